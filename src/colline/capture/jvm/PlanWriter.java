package colline;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;

/**
 * A plan as flat JSON: `classes` says what the nodes' arguments are called, `nodes` lists them children first.
 *
 * A node is `[class, argument, …]`. An integer argument is another node's place in the list, so a shared sub-plan is written
 * once and no depth is nested; every other number is a string. Product elements are read by reflection, so one source reads
 * every Spark version; what is not a tree node is written only where `PlanObjects` says how.
 */
public class PlanWriter extends PlanObjects implements Runnable {
  private final Object plan;
  private final IdentityHashMap places = new IdentityHashMap();
  private final HashMap attributes = new HashMap();
  private String answer = null;

  /** Nodes whose output is their child's, or follows from their own list: it need not be written again. */
  static final HashSet DERIVED = new HashSet(Arrays.asList(new String[] {"Project", "Aggregate", "Filter", "Sort", "GlobalLimit", "LocalLimit",
      "Offset", "Tail", "SubqueryAlias", "Distinct", "Deduplicate", "DeduplicateWithinWatermark", "Repartition", "RepartitionByExpression",
      "RebalancePartitions", "Sample", "ResolvedHint", "EventTimeWatermark", "CollectMetrics", "CTERelationDef", "WithCTE"}));

  /** The functions that are casts. */
  static final HashSet CASTS = new HashSet(Arrays.asList(new String[] {"boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal",
      "date", "timestamp", "binary", "string"}));

  /** An empty one, to ask `describe` of. */
  public PlanWriter() { this(null, 0); }

  public PlanWriter(Object plan, int limit) { super(limit); this.plan = plan; }

  /** The JSON of a plan; beyond `limit` characters an honest partial one: the root, and below it only the leaves. */
  public static String plan(Object plan, int limit) {
    try {
      PlanWriter dump = new PlanWriter(plan, limit);
      int root = dump.node(plan);
      return dump.text(root, false);
    } catch (Full full) {
      return partial(plan, "larger than the limit");
    } catch (StackOverflowError deep) {
      return partial(plan, "deeper than the stack");
    }
  }

  public static String partial(Object plan, String why) {
    PlanWriter dump = new PlanWriter(plan, Integer.MAX_VALUE);
    ArrayList leaves = new ArrayList();
    org.apache.spark.sql.catalyst.trees.TreeNode root = (org.apache.spark.sql.catalyst.trees.TreeNode) plan;
    Object query = root;
    boolean command = root instanceof org.apache.spark.sql.catalyst.plans.logical.Command;
    if (command) { Object q = Reflect.call(root, "query"); if (q == null) q = Reflect.call(root, "source"); if (q != null) query = q; }
    leaves(query, leaves);
    StringBuilder b = new StringBuilder();
    int[] places = new int[leaves.size()];
    for (int i = 0; i < places.length; i++) places[i] = dump.node(leaves.get(i));
    StringBuilder inner = new StringBuilder();
    inner.append('[').append(dump.kind("Unread", "p", new String[] {"children", "why", "output"}, null)).append(",[");
    for (int i = 0; i < places.length; i++) { if (i > 0) inner.append(','); inner.append(places[i]); }
    inner.append("],"); JsonText.string(inner, why); inner.append(',');
    dump.seq(inner, Reflect.call(query, "output"));
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
      Object relation = Reflect.call(leaves.get(i), "relation");
      Object location = relation == null ? null : Reflect.call(relation, "location");
      if (location != null && location.getClass().getSimpleName().equals("DeltaLogFileIndex")) return true;
    }
    return false;
  }

  /** A plan that is described on request: the same text, in pieces, read on a thread with a deep stack. */
  public Chunks describe(Object plan, int limit) throws InterruptedException {
    PlanWriter dump = new PlanWriter(plan, limit);
    Thread thread = new Thread(null, dump, "colline-describe", 512L * 1024L * 1024L);
    thread.start();
    thread.join();
    return new Chunks(dump.answer);
  }

  public void run() {
    try { this.answer = "{\"plan\":" + plan(this.plan, this.limit) + "}"; }
    catch (Throwable x) { this.answer = "{\"failure\":\"" + x.getClass().getName() + "\"}"; }
  }

  private String text(int root, boolean partial) {
    StringBuilder b = new StringBuilder(this.body.length() + this.header.length() + 64);
    b.append("{\"root\":").append(root).append(partial ? ",\"partial\":true" : "");
    b.append(",\"classes\":[").append(this.header).append("],\"nodes\":[").append(this.body).append("]}");
    return b.toString();
  }

  protected int node(Object o) {
    Integer known = (Integer) this.places.get(o);
    if (known != null) return known.intValue();
    if (o instanceof org.apache.spark.sql.catalyst.expressions.AttributeReference) return attribute((org.apache.spark.sql.catalyst.expressions.AttributeReference) o);
    StringBuilder b = new StringBuilder();
    boolean plan = o instanceof org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
    if (o instanceof org.apache.spark.sql.catalyst.expressions.Alias) {
      org.apache.spark.sql.catalyst.expressions.Alias a = (org.apache.spark.sql.catalyst.expressions.Alias) o;
      StringBuilder child = new StringBuilder(); value(child, a.child());
      b.append('[').append(kind("Alias", "e", new String[] {"child", "name", "id"}, null)).append(',').append(child).append(',');
      JsonText.string(b, a.name()); b.append(",\"").append(a.exprId().id()).append("\"]");
    } else if (o instanceof org.apache.spark.sql.catalyst.expressions.Literal) {
      literal(b, (org.apache.spark.sql.catalyst.expressions.Literal) o);
    } else {
      scala.Product p = (scala.Product) o;
      String name = p.productPrefix();
      int arity = p.productArity();
      String[] fields = Reflect.fields(o, arity);
      StringBuilder arguments = new StringBuilder();
      for (int i = 0; i < arity; i++) { arguments.append(','); argument(arguments, o, fields[i], p.productElement(i)); }
      String[] extra = extra(arguments, o, name, plan);
      String[] all = new String[arity + extra.length];
      System.arraycopy(fields, 0, all, 0, arity);
      System.arraycopy(extra, 0, all, arity, extra.length);
      String pretty = plan ? null : String.valueOf(Reflect.call(o, "prettyName"));
      b.append('[').append(kind(name, plan ? "p" : "e", all, pretty)).append(arguments).append(']');
    }
    int place = add(b);
    this.places.put(o, Integer.valueOf(place));
    return place;
  }

  /** What is not a product element but is needed: a node's output, a cast's author, a struct field's name. */
  private String[] extra(StringBuilder b, Object o, String name, boolean plan) {
    if (name.equals("Cast")) {
      org.apache.spark.sql.catalyst.trees.TreeNode cast = (org.apache.spark.sql.catalyst.trees.TreeNode) o;
      boolean user = cast.getTagValue(org.apache.spark.sql.catalyst.expressions.Cast.USER_SPECIFIED_CAST()).isDefined();
      b.append(user || called(cast.origin()) ? ",true" : ",false");
      return new String[] {"by_user"};
    }
    if (name.equals("ResolvedIdentifier") && "spark_catalog".equals(Reflect.call(Reflect.call(o, "catalog"), "name"))) {
      String[] namespace = ((org.apache.spark.sql.connector.catalog.Identifier) Reflect.call(o, "identifier")).namespace();
      String table = ((org.apache.spark.sql.connector.catalog.Identifier) Reflect.call(o, "identifier")).name();
      Object place = namespace.length == 1 ? home(new org.apache.spark.sql.catalyst.TableIdentifier(table, new scala.Some(namespace[0]))) : null;
      b.append(','); JsonText.string(b, (String) place);
      b.append(",[]");
      return new String[] {"location", "output"};
    }
    if (name.equals("LogicalRDD") || name.equals("ExternalRDD")) {
      b.append(','); roots(b, Reflect.call(o, "rdd"));
      if (name.equals("LogicalRDD")) return new String[] {"roots", "rdds"};
      b.append(','); seq(b, Reflect.call(o, "output"));
      return new String[] {"roots", "rdds", "output"};
    }
    if (name.equals("GetStructField")) {
      b.append(','); JsonText.string(b, String.valueOf(Reflect.call(o, "extractFieldName")));
      return new String[] {"field"};
    }
    return plan ? shape(b, o, name) : new String[0];
  }

  /** `double(x)`, `date(x)`: a cast by a function's name, which Spark does not mark as written by the user. */
  private static boolean called(org.apache.spark.sql.catalyst.trees.Origin origin) {
    if (origin.sqlText().isEmpty() || origin.startIndex().isEmpty() || origin.stopIndex().isEmpty()) return false;
    String text = String.valueOf(origin.sqlText().get());
    int from = ((Number) origin.startIndex().get()).intValue();
    int open = text.indexOf('(', from);
    if (open < 0 || open > ((Number) origin.stopIndex().get()).intValue()) return false;
    return CASTS.contains(text.substring(from, open).trim().toLowerCase(java.util.Locale.ROOT));
  }

  /** An operator's output where it does not follow from its arguments, and the types of what a command writes. */
  private String[] shape(StringBuilder b, Object o, String name) {
    java.util.List fields = Arrays.asList(Reflect.fields(o, ((scala.Product) o).productArity()));
    boolean listed = !DERIVED.contains(name) && !fields.contains("output");
    boolean command = o instanceof org.apache.spark.sql.catalyst.plans.logical.Command;
    Object query = command ? Reflect.call(o, fields.contains("query") ? "query" : "plan") : null;
    boolean typed = query instanceof org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
    if (listed) { b.append(','); seq(b, Reflect.call(o, "output")); }
    if (typed) { b.append(','); types(b, ((org.apache.spark.sql.catalyst.plans.logical.LogicalPlan) query).output().iterator()); }
    return listed ? (typed ? new String[] {"output", "types"} : new String[] {"output"}) : (typed ? new String[] {"types"} : new String[0]);
  }

  private static void types(StringBuilder b, scala.collection.Iterator it) {
    b.append('[');
    boolean first = true;
    while (it.hasNext()) {
      if (!first) b.append(',');
      first = false;
      JsonText.string(b, JsonText.cut(((org.apache.spark.sql.catalyst.expressions.Attribute) it.next()).dataType().catalogString(), 2000));
    }
    b.append(']');
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
    JsonText.string(b, a.name());
    b.append(",\"").append(a.exprId().id()).append("\",");
    JsonText.string(b, JsonText.cut(a.dataType().catalogString(), 2000));
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
    JsonText.string(b, text); b.append(',');
    JsonText.string(b, JsonText.cut(l.dataType().catalogString(), 200));
    b.append(']');
  }
}
