package colline;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;

/**
 * A plan as flat JSON: `classes` says what the nodes' arguments are called, `nodes` lists them children first.
 *
 * A node is `[class, argument, …]`. An integer argument is another node's place in the list, so a shared sub-plan is written
 * once and no depth is nested; every other number is a string. Product elements are read by reflection, so one source reads
 * every Spark version; what is not a tree node is written only where a line below says how.
 */
public class Dump implements Runnable {
  /** py4j flushes its 8 KB buffer and then waits for a delayed ACK, so an answer is handed over in smaller pieces. */
  public static final int PIECE = 7900;

  private final Object plan;
  private final int limit;
  private final IdentityHashMap places = new IdentityHashMap();
  private final HashMap attributes = new HashMap();
  private final HashMap classes = new HashMap();
  private final StringBuilder header = new StringBuilder();
  private final StringBuilder body = new StringBuilder(8192);
  private int count = 0;
  private String answer = null;
  private String pending = null;
  private int position = 0;

  /** Nodes whose output is their child's, or follows from their own list: it need not be written again. */
  static final HashSet DERIVED = new HashSet(Arrays.asList(new String[] {"Project", "Aggregate", "Filter", "Sort", "GlobalLimit", "LocalLimit",
      "Offset", "Tail", "SubqueryAlias", "Distinct", "Deduplicate", "DeduplicateWithinWatermark", "Repartition", "RepartitionByExpression",
      "RebalancePartitions", "Sample", "ResolvedHint", "EventTimeWatermark", "CollectMetrics", "CTERelationDef", "WithCTE"}));
  /** The only options that are ever read: what naming a dataset needs. */
  static final HashSet OPTIONS = new HashSet(Arrays.asList(new String[] {"path", "paths", "url", "dbtable", "query", "table", "topic", "subscribe",
      "subscribepattern", "assign", "kafka.bootstrap.servers", "catalog", "database", "dbschema", "collection", "sfurl", "sfdatabase", "sfschema",
      "sfaccount", "parentproject", "project", "dataset", "provider", "location", "replacewhere", "partitionoverwritemode", "mergeschema",
      "overwriteschema", "versionasof", "timestampasof", "readchangefeed", "spark.cosmos.accountendpoint", "spark.cosmos.container",
      "spark.cosmos.database", "cluster", "keyspace", "kustocluster", "kustodatabase", "kustotable", "streamname", "region", "projectid", "topicid", "subscriptionid",
      "spark.cassandra.connection.host", "spark.cassandra.connection.port", "es.port", "snapshot-id", "es.nodes", "es.resource", "host", "port"}));

  /** An empty one, to ask `describe` of. */
  public Dump() { this(null, 0); }

  public Dump(Object plan, int limit) { this.plan = plan; this.limit = limit; }

  /** The JSON of a plan; beyond `limit` characters an honest partial one: the root, and below it only the leaves. */
  public static String plan(Object plan, int limit) {
    try {
      Dump dump = new Dump(plan, limit);
      int root = dump.node(plan);
      return dump.text(root, false);
    } catch (Full full) {
      return partial(plan, "larger than the limit");
    } catch (StackOverflowError deep) {
      return partial(plan, "deeper than the stack");
    }
  }

  public static String partial(Object plan, String why) {
    Dump dump = new Dump(plan, Integer.MAX_VALUE);
    ArrayList leaves = new ArrayList();
    org.apache.spark.sql.catalyst.trees.TreeNode root = (org.apache.spark.sql.catalyst.trees.TreeNode) plan;
    Object query = root;
    boolean command = root instanceof org.apache.spark.sql.catalyst.plans.logical.Command;
    if (command) { Object q = call(root, "query"); if (q == null) q = call(root, "source"); if (q != null) query = q; }
    leaves(query, leaves);
    StringBuilder b = new StringBuilder();
    int[] places = new int[leaves.size()];
    for (int i = 0; i < places.length; i++) places[i] = dump.node(leaves.get(i));
    StringBuilder inner = new StringBuilder();
    inner.append('[').append(dump.kind("Unread", "p", new String[] {"children", "why", "output"}, null)).append(",[");
    for (int i = 0; i < places.length; i++) { if (i > 0) inner.append(','); inner.append(places[i]); }
    inner.append("],"); string(inner, why); inner.append(',');
    dump.seq(inner, call(query, "output"));
    inner.append(']');
    int unread = dump.add(inner);
    dump.places.put(query, Integer.valueOf(unread));
    return dump.text(command ? dump.node(plan) : unread, true);
  }

  public static void leaves(Object plan, ArrayList into) {
    ArrayList stack = new ArrayList();
    IdentityHashMap seen = new IdentityHashMap();
    stack.add(plan);
    while (!stack.isEmpty()) {
      Object next = stack.remove(stack.size() - 1);
      if (seen.put(next, next) != null) continue;
      scala.collection.Iterator it = ((org.apache.spark.sql.catalyst.trees.TreeNode) next).children().iterator();
      boolean leaf = !it.hasNext();
      while (it.hasNext()) stack.add(it.next());
      if (leaf && into.size() < 1000) into.add(next);
    }
  }

  /** Delta's reading of its own log is no user's query. */
  public static boolean isDeltaLog(Object plan) {
    ArrayList leaves = new ArrayList();
    leaves(plan, leaves);
    for (int i = 0; i < leaves.size(); i++) {
      Object relation = call(leaves.get(i), "relation");
      Object location = relation == null ? null : call(relation, "location");
      if (location != null && location.getClass().getSimpleName().equals("DeltaLogFileIndex")) return true;
    }
    return false;
  }

  // a plan that is described on request: the same text, in pieces, read on a thread with a deep stack
  public Dump describe(Object plan, int limit) throws InterruptedException {
    Dump dump = new Dump(plan, limit);
    Thread thread = new Thread(null, dump, "colline-describe", 512L * 1024L * 1024L);
    thread.start();
    thread.join();
    return dump;
  }

  public void run() {
    try { this.answer = "{\"plan\":" + plan(this.plan, this.limit) + "}"; }
    catch (Throwable x) { this.answer = "{\"failure\":\"" + x.getClass().getName() + "\"}"; }
    this.pending = pack(this.answer);
  }

  public String more() {
    int end = Math.min(this.pending.length(), this.position + PIECE);
    String piece = (end < this.pending.length() ? "+" : ".") + this.pending.substring(this.position, end);
    this.position = end;
    return piece;
  }

  static class Full extends RuntimeException { }

  private String text(int root, boolean partial) {
    StringBuilder b = new StringBuilder(this.body.length() + this.header.length() + 64);
    b.append("{\"root\":").append(root).append(partial ? ",\"partial\":true" : "");
    b.append(",\"classes\":[").append(this.header).append("],\"nodes\":[").append(this.body).append("]}");
    return b.toString();
  }

  private int add(StringBuilder node) {
    if (this.body.length() + node.length() > this.limit) throw new Full();
    if (this.count > 0) this.body.append(',');
    this.body.append(node);
    this.count++;
    return this.count - 1;
  }

  private int kind(String name, String sort, String[] fields, String pretty) {
    String key = sort + name + fields.length;
    Integer known = (Integer) this.classes.get(key);
    if (known != null) return known.intValue();
    int place = this.classes.size();
    this.classes.put(key, Integer.valueOf(place));
    StringBuilder h = this.header;
    if (place > 0) h.append(',');
    h.append('['); string(h, name); h.append(",\"").append(sort).append("\",[");
    for (int i = 0; i < fields.length; i++) { if (i > 0) h.append(','); string(h, fields[i]); }
    h.append("],"); string(h, pretty); h.append(']');
    return place;
  }

  private int node(Object o) {
    Integer known = (Integer) this.places.get(o);
    if (known != null) return known.intValue();
    if (o instanceof org.apache.spark.sql.catalyst.expressions.AttributeReference) return attribute((org.apache.spark.sql.catalyst.expressions.AttributeReference) o);
    StringBuilder b = new StringBuilder();
    boolean plan = o instanceof org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
    if (o instanceof org.apache.spark.sql.catalyst.expressions.Alias) {
      org.apache.spark.sql.catalyst.expressions.Alias a = (org.apache.spark.sql.catalyst.expressions.Alias) o;
      StringBuilder child = new StringBuilder(); value(child, a.child());
      b.append('[').append(kind("Alias", "e", new String[] {"child", "name", "id"}, null)).append(',').append(child).append(',');
      string(b, a.name()); b.append(",\"").append(a.exprId().id()).append("\"]");
    } else if (o instanceof org.apache.spark.sql.catalyst.expressions.Literal) {
      literal(b, (org.apache.spark.sql.catalyst.expressions.Literal) o);
    } else {
      scala.Product p = (scala.Product) o;
      String name = p.productPrefix();
      int arity = p.productArity();
      String[] fields = fields(o, arity);
      StringBuilder arguments = new StringBuilder();
      for (int i = 0; i < arity; i++) { arguments.append(','); argument(arguments, o, fields[i], p.productElement(i)); }
      String[] extra = extra(arguments, o, name, plan);
      String[] all = new String[arity + extra.length];
      System.arraycopy(fields, 0, all, 0, arity);
      System.arraycopy(extra, 0, all, arity, extra.length);
      String pretty = plan ? null : String.valueOf(call(o, "prettyName"));
      b.append('[').append(kind(name, plan ? "p" : "e", all, pretty)).append(arguments).append(']');
    }
    int place = add(b);
    this.places.put(o, Integer.valueOf(place));
    return place;
  }

  /** What is not a product element but is needed: a node's output, a cast's author, a struct field's name. */
  private String[] extra(StringBuilder b, Object o, String name, boolean plan) {
    if (name.equals("Cast")) {
      boolean user = ((org.apache.spark.sql.catalyst.trees.TreeNode) o).getTagValue(org.apache.spark.sql.catalyst.expressions.Cast.USER_SPECIFIED_CAST()).isDefined();
      b.append(user ? ",true" : ",false");
      return new String[] {"by_user"};
    }
    if (name.equals("ResolvedIdentifier") && "spark_catalog".equals(call(call(o, "catalog"), "name"))) {
      String[] namespace = ((org.apache.spark.sql.connector.catalog.Identifier) call(o, "identifier")).namespace();
      String table = ((org.apache.spark.sql.connector.catalog.Identifier) call(o, "identifier")).name();
      Object place = namespace.length == 1 ? home(new org.apache.spark.sql.catalyst.TableIdentifier(table, new scala.Some(namespace[0]))) : null;
      b.append(','); string(b, (String) place);
      b.append(",[]");
      return new String[] {"location", "output"};
    }
    if (name.equals("LogicalRDD") || name.equals("ExternalRDD")) {
      b.append(','); roots(b, call(o, "rdd"));
      if (name.equals("LogicalRDD")) return new String[] {"roots", "rdds"};
      b.append(','); seq(b, call(o, "output"));
      return new String[] {"roots", "rdds", "output"};
    }
    if (name.equals("GetStructField")) {
      b.append(','); string(b, String.valueOf(call(o, "extractFieldName")));
      return new String[] {"field"};
    }
    if (plan && !DERIVED.contains(name) && !Arrays.asList(fields(o, ((scala.Product) o).productArity())).contains("output")) {
      b.append(','); seq(b, call(o, "output"));
      return new String[] {"output"};
    }
    return new String[0];
  }

  /** The kinds and ids of the RDDs that an RDD comes from, leaves first: parallelized data, or the scan of another plan. */
  private void roots(StringBuilder b, Object rdd) {
    ArrayList stack = new ArrayList();
    IdentityHashMap seen = new IdentityHashMap();
    ArrayList kinds = new ArrayList();
    ArrayList ids = new ArrayList();
    if (rdd != null) stack.add(rdd);
    while (!stack.isEmpty() && seen.size() < 1000) {
      org.apache.spark.rdd.RDD next = (org.apache.spark.rdd.RDD) stack.remove(stack.size() - 1);
      if (seen.put(next, next) != null) continue;
      ids.add(String.valueOf(next.id()));
      scala.collection.Iterator it = next.dependencies().iterator();
      if (!it.hasNext()) kinds.add(next.getClass().getSimpleName());
      while (it.hasNext()) stack.add(((org.apache.spark.Dependency) it.next()).rdd());
    }
    array(b, kinds.toArray());
    b.append(','); array(b, ids.toArray());
  }

  private void argument(StringBuilder b, Object owner, String field, Object o) {
    if (owner instanceof org.apache.spark.sql.catalyst.plans.logical.LocalRelation && field.equals("data")) { b.append("null"); return; }
    value(b, o);
  }

  private int attribute(org.apache.spark.sql.catalyst.expressions.AttributeReference a) {
    String key = a.exprId().id() + " " + a.name();
    Integer known = (Integer) this.attributes.get(key);
    if (known != null) return known.intValue();
    StringBuilder b = new StringBuilder();
    b.append('[').append(kind("AttributeReference", "e", new String[] {"name", "id", "type"}, null)).append(',');
    string(b, a.name());
    b.append(",\"").append(a.exprId().id()).append("\",");
    string(b, cut(a.dataType().catalogString(), 2000));
    b.append(']');
    int place = add(b);
    this.attributes.put(key, Integer.valueOf(place));
    return place;
  }

  private void literal(StringBuilder b, org.apache.spark.sql.catalyst.expressions.Literal l) {
    String text = "?";
    Object v = l.value();
    if (v == null) text = "NULL";
    else if (v instanceof Number || v instanceof Boolean || v.getClass().getName().equals("org.apache.spark.unsafe.types.UTF8String")) {
      String raw = v.toString();
      text = raw.length() > 200 ? "'" + raw.substring(0, 200) + "…'" : l.sql();
    } else if (v instanceof org.apache.spark.sql.types.Decimal) text = l.sql();
    b.append('[').append(kind("Literal", "e", new String[] {"sql", "type"}, null)).append(',');
    string(b, text); b.append(',');
    string(b, cut(l.dataType().catalogString(), 200));
    b.append(']');
  }

  private void value(StringBuilder b, Object o) {
    if (o == null) { b.append("null"); return; }
    if (o instanceof org.apache.spark.sql.catalyst.trees.TreeNode) { b.append(node(o)); return; }
    if (o instanceof String || o instanceof Character) { string(b, cut(String.valueOf(o), 20000)); return; }
    if (o instanceof Boolean) { b.append(o); return; }
    if (o instanceof Number) { b.append('"').append(o).append('"'); return; }
    if (o instanceof scala.Option) { scala.Option p = (scala.Option) o; value(b, p.isEmpty() ? null : p.get()); return; }
    if (o instanceof org.apache.spark.sql.catalyst.expressions.ExprId) { b.append('"').append(((org.apache.spark.sql.catalyst.expressions.ExprId) o).id()).append('"'); return; }
    if (o instanceof org.apache.spark.sql.types.StructType) { structure(b, (org.apache.spark.sql.types.StructType) o); return; }
    if (o instanceof org.apache.spark.sql.types.StructField) { string(b, ((org.apache.spark.sql.types.StructField) o).name()); return; }
    if (o instanceof org.apache.spark.sql.types.DataType) { string(b, cut(((org.apache.spark.sql.types.DataType) o).catalogString(), 2000)); return; }
    if (o instanceof scala.collection.Map) { map(b, ((scala.collection.Map) o).iterator()); return; }
    if (o instanceof java.util.Map) { javaMap(b, (java.util.Map) o); return; }
    if (o instanceof scala.collection.Iterable) { seq(b, o); return; }
    if (o instanceof Object[]) { array(b, (Object[]) o); return; }
    if (o instanceof Enum || o instanceof scala.Enumeration.Value) { string(b, String.valueOf(o)); return; }
    if (o instanceof scala.Tuple2) { scala.Tuple2 t = (scala.Tuple2) o; b.append('['); value(b, t._1()); b.append(','); value(b, t._2()); b.append(']'); return; }
    thing(b, o);
  }

  /** Objects that are no tree nodes: each is written as the few facts that naming and lineage need. */
  private void thing(StringBuilder b, Object o) {
    String name = o.getClass().getName();
    if (o instanceof org.apache.spark.sql.catalyst.catalog.CatalogTable) { table(b, (org.apache.spark.sql.catalyst.catalog.CatalogTable) o); return; }
    if (o instanceof org.apache.spark.sql.catalyst.TableIdentifier) { named(b, (org.apache.spark.sql.catalyst.TableIdentifier) o); return; }
    if (o instanceof org.apache.spark.sql.execution.datasources.HadoopFsRelation) { files(b, (org.apache.spark.sql.execution.datasources.HadoopFsRelation) o); return; }
    if (o instanceof org.apache.spark.sql.execution.datasources.FileIndex) { record(b, "FileIndex", new Object[] {"paths", ((org.apache.spark.sql.execution.datasources.FileIndex) o).rootPaths(), "version", call(o, "tableVersion")}); return; }
    if (o instanceof org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat) {
      record(b, "Storage", new Object[] {"location", uri(((org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat) o).locationUri()), "provider", call(o, "provider")}); return; }
    if (o instanceof org.apache.hadoop.fs.Path || o instanceof java.net.URI) { string(b, o.toString()); return; }
    if (o instanceof org.apache.spark.sql.connector.catalog.Identifier) { identifier(b, (org.apache.spark.sql.connector.catalog.Identifier) o); return; }
    if (o instanceof org.apache.spark.sql.connector.catalog.CatalogPlugin) { record(b, "Catalog", new Object[] {"name", ((org.apache.spark.sql.connector.catalog.CatalogPlugin) o).name(), "class", name}); return; }
    if (o instanceof org.apache.spark.sql.connector.catalog.Table) { connector(b, (org.apache.spark.sql.connector.catalog.Table) o); return; }
    if (o instanceof org.apache.spark.sql.sources.BaseRelation) { relation(b, o); return; }
    if (name.endsWith("PythonFunction")) { python(b, o); return; }
    if (name.endsWith(".DataSource")) { record(b, "DataSource", new Object[] {"provider", call(o, "className"), "paths", call(o, "paths"), "options", call(o, "options")}); return; }
    if (name.endsWith("TableSpec")) { record(b, "TableSpec", new Object[] {"provider", call(o, "provider"), "location", call(o, "location")}); return; }
    if (o instanceof org.apache.spark.sql.execution.datasources.FileFormat) { string(b, o.getClass().getSimpleName()); return; }
    if (o instanceof scala.Product && name.startsWith("org.apache.spark.sql.catalyst.plans.")) { product(b, (scala.Product) o); return; }
    if (o instanceof scala.Product && name.startsWith("org.apache.spark.sql.catalyst.analysis.")) { product(b, (scala.Product) o); return; }
    if (name.endsWith("DeltaLog")) { record(b, "DeltaLog", new Object[] {"path", call(o, "dataPath")}); return; }
    string(b, "<" + name + ">");
  }

  private void named(StringBuilder b, org.apache.spark.sql.catalyst.TableIdentifier id) {
    record(b, "TableIdentifier", new Object[] {"identifier", parts(id), "location", home(id)});
  }

  /** Where the session's catalog puts, or would put, a table of that name; null where it does not say. */
  private static Object home(org.apache.spark.sql.catalyst.TableIdentifier id) {
    try {
      scala.Option session = org.apache.spark.sql.SparkSession.getDefaultSession();
      if (session.isEmpty()) return null;
      org.apache.spark.sql.catalyst.catalog.SessionCatalog catalog = (org.apache.spark.sql.catalyst.catalog.SessionCatalog) call(call(session.get(), "sessionState"), "catalog");
      try {
        scala.Option found = catalog.getTableMetadata(id).storage().locationUri();
        if (found.isDefined()) return found.get().toString();
      } catch (Exception absent) {
        // not there yet, or gone already: the place it would have
      }
      return catalog.defaultTablePath(id).toString();
    } catch (Throwable x) {
      return null;
    }
  }

  private void product(StringBuilder b, scala.Product p) {
    if (p.productArity() == 0) { string(b, p.productPrefix()); return; }
    b.append('['); string(b, p.productPrefix());
    for (int i = 0; i < p.productArity(); i++) { b.append(','); value(b, p.productElement(i)); }
    b.append(']');
  }

  private void record(StringBuilder b, String name, Object[] pairs) {
    StringBuilder inner = new StringBuilder();
    String[] fields = new String[pairs.length / 2];
    for (int i = 0; i < fields.length; i++) { fields[i] = (String) pairs[2 * i]; inner.append(','); value(inner, pairs[2 * i + 1]); }
    StringBuilder node = new StringBuilder();
    node.append('[').append(kind(name, "o", fields, null)).append(inner).append(']');
    b.append(add(node));
  }

  private static Object uri(scala.Option location) { return location == null || location.isEmpty() ? null : location.get().toString(); }

  private void table(StringBuilder b, org.apache.spark.sql.catalyst.catalog.CatalogTable t) {
    Object location = uri(t.storage().locationUri());
    if (location == null && t.tableType().name().equals("MANAGED")) location = home(t.identifier());
    record(b, "CatalogTable", new Object[] {"identifier", parts(t.identifier()), "provider", t.provider(), "location", location,
        "type", t.tableType().name(), "schema", t.schema(), "partitions", t.partitionColumnNames(), "options", t.storage().properties()});
  }

  private static Object parts(org.apache.spark.sql.catalyst.TableIdentifier id) {
    Object catalog = call(id, "catalog");
    ArrayList found = new ArrayList();
    if (catalog instanceof scala.Option && ((scala.Option) catalog).isDefined()) found.add(((scala.Option) catalog).get());
    if (id.database().isDefined()) found.add(id.database().get());
    found.add(id.table());
    return found.toArray();
  }

  private void files(StringBuilder b, org.apache.spark.sql.execution.datasources.HadoopFsRelation r) {
    record(b, "HadoopFsRelation", new Object[] {"paths", r.location().rootPaths(), "format", r.fileFormat().getClass().getSimpleName(), "options", r.options(),
        "partitions", r.partitionSchema().fieldNames(), "version", call(r.location(), "tableVersion")});
  }

  private void identifier(StringBuilder b, org.apache.spark.sql.connector.catalog.Identifier id) {
    String[] namespace = id.namespace();
    String[] all = new String[namespace.length + 1];
    System.arraycopy(namespace, 0, all, 0, namespace.length);
    all[namespace.length] = id.name();
    array(b, all);
  }

  /** A catalog's table: only what is in memory already, for asking some of them for properties reads storage. */
  private void connector(StringBuilder b, org.apache.spark.sql.connector.catalog.Table t) {
    String name = t.getClass().getName();
    if (name.endsWith("RowLevelOperationTable")) { connector(b, (org.apache.spark.sql.connector.catalog.Table) call(t, "table")); return; }
    Object path = null;
    Object provider = null;
    Object options = null;
    Object catalog = null;
    Object version = null;
    if (name.endsWith("DeltaTableV2")) { path = call(t, "path"); provider = "delta"; catalog = call(t, "catalogTable"); }
    else if (name.indexOf("iceberg") >= 0) {
      Object inner = call(t, "table");
      path = inner == null ? null : call(inner, "location");
      provider = "iceberg";
      Object snapshot = inner == null ? null : call(inner, "currentSnapshot");
      version = snapshot == null ? null : call(snapshot, "snapshotId");
    }
    else if (name.endsWith("V1Table")) { catalog = call(t, "v1Table"); }
    else if (call(t, "paths") != null) { path = call(t, "paths"); provider = call(t, "formatName"); options = call(t, "options"); }
    else if (name.endsWith("JDBCTable")) { Object jdbc = call(t, "jdbcOptions"); provider = "jdbc"; options = jdbc == null ? null : call(call(jdbc, "parameters"), "originalMap"); }
    else { options = call(t, "options"); }
    // a stream's old kind of sink is a table that must not be asked for its name: its text says what it is
    Object known = call(t, "name");
    record(b, "Table", new Object[] {"name", known, "class", name, "provider", provider, "path", path, "catalog_table", catalog, "options", options,
        "columns", columns(t), "version", version, "description", known == null ? String.valueOf(t) : null});
  }

  private static Object columns(org.apache.spark.sql.connector.catalog.Table t) {
    Object schema = call(t, "schema");
    return schema instanceof org.apache.spark.sql.types.StructType ? ((org.apache.spark.sql.types.StructType) schema).fieldNames() : null;
  }

  private void relation(StringBuilder b, Object o) {
    Object options = call(o, "jdbcOptions");
    Object parameters = options == null ? null : call(options, "parameters");
    Object original = parameters == null ? null : call(parameters, "originalMap");
    if (original == null) original = parameters;
    if (original == null) original = call(o, "parameters");
    if (original == null) original = call(o, "sourceOptions");
    if (original == null) original = call(o, "options");
    record(b, "Relation", new Object[] {"class", o.getClass().getName(), "options", original});
  }

  private void python(StringBuilder b, Object o) {
    Object command = call(o, "command");
    byte[] bytes = null;
    if (command instanceof byte[]) bytes = (byte[]) command;
    else if (command instanceof scala.collection.Seq) {
      scala.collection.Seq seq = (scala.collection.Seq) command;
      Object array = call(seq, "unsafeArray");
      if (array == null) array = call(seq, "array");
      if (array instanceof byte[]) bytes = (byte[]) array;
    }
    String text = bytes == null || bytes.length > 300000 ? null : java.util.Base64.getEncoder().encodeToString(bytes);
    record(b, "PythonFunction", new Object[] {"command", text});
  }

  private void structure(StringBuilder b, org.apache.spark.sql.types.StructType s) {
    b.append('[');
    org.apache.spark.sql.types.StructField[] fields = s.fields();
    for (int i = 0; i < fields.length; i++) {
      if (i > 0) b.append(',');
      b.append('['); string(b, fields[i].name()); b.append(','); string(b, cut(fields[i].dataType().catalogString(), 2000)); b.append(']');
    }
    b.append(']');
  }

  private void seq(StringBuilder b, Object o) {
    b.append('[');
    scala.collection.Iterator it = ((scala.collection.Iterable) o).iterator();
    boolean first = true;
    int n = 0;
    // a list is written as a whole or, where it is raw data of a thousand things and more, up to there
    while (it.hasNext()) {
      Object next = it.next();
      if (next instanceof Byte && n > 0) break;
      if (!first) b.append(',');
      first = false;
      value(b, next);
      n++;
    }
    b.append(']');
  }

  private void array(StringBuilder b, Object[] all) {
    b.append('[');
    for (int i = 0; i < all.length; i++) { if (i > 0) b.append(','); value(b, all[i]); }
    b.append(']');
  }

  private void map(StringBuilder b, scala.collection.Iterator it) {
    b.append('[');
    boolean first = true;
    while (it.hasNext()) {
      scala.Tuple2 pair = (scala.Tuple2) it.next();
      first = option(b, first, pair._1(), pair._2());
    }
    b.append(']');
  }

  private void javaMap(StringBuilder b, java.util.Map map) {
    b.append('[');
    boolean first = true;
    Iterator it = map.entrySet().iterator();
    while (it.hasNext()) {
      java.util.Map.Entry pair = (java.util.Map.Entry) it.next();
      first = option(b, first, pair.getKey(), pair.getValue());
    }
    b.append(']');
  }

  private boolean option(StringBuilder b, boolean first, Object key, Object found) {
    Object inner = found instanceof scala.Option ? (((scala.Option) found).isDefined() ? ((scala.Option) found).get() : null) : found;
    boolean known = key instanceof String && (OPTIONS.contains(((String) key).toLowerCase(java.util.Locale.ROOT)) || !(inner instanceof String));
    if (!known || (inner != null && !(inner instanceof String) && !(inner instanceof org.apache.spark.sql.catalyst.trees.TreeNode))) {
      // a static partition is a map from its column to its value, or to nothing
      if (!(key instanceof String && inner == null)) return first;
    }
    if (!first) b.append(',');
    b.append('['); string(b, (String) key); b.append(','); value(b, inner); b.append(']');
    return false;
  }

  /** What Spark counted near the root of the executed plan: rows, bytes, files written. */
  public static void metrics(StringBuilder b, org.apache.spark.sql.execution.QueryExecution qe) {
    try {
      HashMap found = new HashMap();
      collect(qe.executedPlan(), found, 0);
      b.append(",\"metrics\":{");
      boolean first = true;
      Iterator it = found.keySet().iterator();
      while (it.hasNext()) {
        Object key = it.next();
        if (!first) b.append(',');
        first = false;
        string(b, (String) key); b.append(':').append(found.get(key));
      }
      b.append('}');
    } catch (Throwable x) {
      // a plan that failed before it was made has no metrics
    }
  }

  private static void collect(Object plan, HashMap found, int depth) {
    if (plan == null || depth > 6) return;
    Object command = call(plan, "commandPhysicalPlan");
    if (command != null) collect(command, found, depth + 1);
    Object executed = call(plan, "executedPlan");
    if (executed != null && executed != plan && plan.getClass().getSimpleName().startsWith("Adaptive")) collect(executed, found, depth + 1);
    scala.collection.Iterator it = ((scala.collection.Map) call(plan, "metrics")).iterator();
    while (it.hasNext()) {
      scala.Tuple2 pair = (scala.Tuple2) it.next();
      String key = String.valueOf(pair._1());
      if (!key.startsWith("num") || found.containsKey(key)) continue;
      Object count = call(pair._2(), "value");
      if (count instanceof Number && ((Number) count).longValue() >= 0) found.put(key, count);
    }
    if (isWrite(plan)) return;
    scala.collection.Iterator children = ((org.apache.spark.sql.catalyst.trees.TreeNode) plan).children().iterator();
    if (children.hasNext()) collect(children.next(), found, depth + 1);
  }

  private static boolean isWrite(Object plan) {
    String name = plan.getClass().getSimpleName();
    return name.indexOf("Command") >= 0 || name.endsWith("DataExec") || name.startsWith("Overwrite") || name.endsWith("AsSelectExec");
  }

  static final HashMap METHODS = new HashMap();

  /** The value of a method without arguments, or null where there is none or it fails. */
  public static Object call(Object target, String name) {
    if (target == null) return null;
    try {
      String key = target.getClass().getName() + "#" + name + "@" + System.identityHashCode(target.getClass().getClassLoader());
      Method m;
      synchronized (METHODS) { m = (Method) METHODS.get(key); }
      if (m == null) {
        m = target.getClass().getMethod(name, new Class[0]);
        m.setAccessible(true);
        synchronized (METHODS) { METHODS.put(key, m); }
      }
      return m.invoke(target, new Object[0]);
    } catch (Throwable x) {
      return null;
    }
  }

  static final HashMap FIELDS = new HashMap();

  /** What a case class calls its arguments: Scala 2.13 says it; in 2.12 they are the first fields declared. */
  public static String[] fields(Object o, int arity) {
    String key = o.getClass().getName() + "/" + arity;
    synchronized (FIELDS) { if (FIELDS.containsKey(key)) return (String[]) FIELDS.get(key); }
    String[] names = new String[arity];
    Object said = call(o, "productElementNames");
    if (said instanceof scala.collection.Iterator) {
      for (int i = 0; i < arity; i++) names[i] = String.valueOf(((scala.collection.Iterator) said).next());
    } else {
      Class c = o.getClass();
      while (c != null && declared(c).size() < arity) c = c.getSuperclass();
      matched(names, c == null ? new ArrayList() : declared(c), (scala.Product) o);
    }
    synchronized (FIELDS) { FIELDS.put(key, names); }
    return names;
  }

  /** In 2.12 lazy values stand among the arguments' fields, so each argument is the next field that holds its value. */
  private static void matched(String[] names, ArrayList fields, scala.Product p) {
    int next = 0;
    for (int i = 0; i < names.length; i++) {
      names[i] = "_" + i;
      for (int j = next; j < fields.size(); j++) {
        if (!holds((Field) fields.get(j), p, p.productElement(i))) continue;
        names[i] = ((Field) fields.get(j)).getName();
        next = j + 1;
        break;
      }
    }
  }

  private static boolean holds(Field field, Object owner, Object value) {
    try {
      field.setAccessible(true);
      Object held = field.get(owner);
      return held == value || (held != null && (value instanceof Boolean || value instanceof Number || value instanceof String) && held.equals(value));
    } catch (Exception x) {
      return false;
    }
  }

  private static ArrayList declared(Class c) {
    Field[] all = c.getDeclaredFields();
    ArrayList found = new ArrayList();
    for (int i = 0; i < all.length; i++) {
      if (!java.lang.reflect.Modifier.isStatic(all[i].getModifiers()) && all[i].getName().indexOf('$') < 0) found.add(all[i]);
    }
    return found;
  }

  public static String cut(String s, int most) { return s == null || s.length() <= most ? s : s.substring(0, most) + "…"; }

  public static void strings(StringBuilder b, Object o) {
    b.append('[');
    if (o instanceof scala.collection.Iterable) {
      scala.collection.Iterator it = ((scala.collection.Iterable) o).iterator();
      boolean first = true;
      while (it.hasNext()) { if (!first) b.append(','); first = false; string(b, String.valueOf(it.next())); }
    }
    b.append(']');
  }

  public static void string(StringBuilder b, String s) {
    if (s == null) { b.append("null"); return; }
    b.append('"');
    for (int i = 0; i < s.length(); i++) {
      char c = s.charAt(i);
      if (c == '"' || c == '\\') b.append('\\').append(c);
      else if (c < 32 || (c >= 0xd800 && c <= 0xdfff)) {
        b.append("\\u");
        String hex = Integer.toHexString(c);
        for (int j = hex.length(); j < 4; j++) b.append('0');
        b.append(hex);
      }
      else b.append(c);
    }
    b.append('"');
  }

  /** Deflated and in base 64: most plans then fit one answer of py4j. */
  public static String pack(String text) {
    try {
      java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream(text.length() / 4 + 64);
      java.util.zip.DeflaterOutputStream out = new java.util.zip.DeflaterOutputStream(bytes, new java.util.zip.Deflater(1));
      out.write(text.getBytes("UTF-8"));
      out.close();
      return java.util.Base64.getEncoder().encodeToString(bytes.toByteArray());
    } catch (java.io.IOException x) {
      throw new RuntimeException(x);
    }
  }
}
