package colline;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Writes Scala and Java values as the flat JSON of a plan: tree nodes, lists, maps and records. */
public abstract class Values {
  private static final int MAX_STRING_CHARS = 20000;
  private static final int MAX_TYPE_CHARS = 2000;
  private static final int MAX_OPTION_CHARS = 200;
  private static final java.util.regex.Pattern SECRET =
      java.util.regex.Pattern.compile("(?i)secret|passw|pwd|token|key|credential|auth|signature|certificate|user|sas|connection.?string");

  protected final int maxChars;
  private final HashMap classes = new HashMap();
  protected final StringBuilder header = new StringBuilder();
  protected final StringBuilder body = new StringBuilder(8192);
  private int nodeCount = 0;

  /** The only data source options that leave the JVM: those that name a dataset. Others may hold secrets. */
  static final HashSet NAMING_OPTIONS = new HashSet(Arrays.asList(new String[] {"path", "paths", "url", "dbtable", "query", "table", "topic", "subscribe",
      "subscribepattern", "basepath", "assign", "kafka.bootstrap.servers", "catalog", "database", "dbschema", "collection", "sfurl", "sfdatabase", "sfschema",
      "sfaccount", "parentproject", "project", "dataset", "provider", "location", "replacewhere", "partitionoverwritemode", "mergeschema",
      "overwriteschema", "versionasof", "timestampasof", "readchangefeed", "spark.cosmos.accountendpoint", "spark.cosmos.container",
      "spark.cosmos.database", "cluster", "keyspace", "kustocluster", "kustodatabase", "kustotable", "streamname", "region", "queryname", "projectid", "topicid", "subscriptionid",
      "spark.cassandra.connection.host", "spark.cassandra.connection.port", "es.port", "snapshot-id", "es.nodes", "es.resource", "host", "port"}));

  protected Values(int maxChars) { this.maxChars = maxChars; }

  /** The index of a tree node in the list of nodes. The first call for a node writes it. */
  protected abstract int node(Object o);

  /** Writes the facts that naming and lineage need of an object that is not a tree node: a table, a relation, a function. */
  protected abstract void planObject(StringBuilder b, Object o);

  /** Thrown when the plan is longer than `maxChars`. */
  public static class PlanTooLarge extends RuntimeException { }

  /** Appends a node to the list and returns its index. */
  protected int add(StringBuilder node) {
    if (this.body.length() + node.length() > this.maxChars) throw new PlanTooLarge();
    if (this.nodeCount > 0) this.body.append(',');
    this.body.append(node);
    this.nodeCount++;
    return this.nodeCount - 1;
  }

  /**
   * The index of a class in the header, which holds each class once: its name, its group, the names of its arguments, its SQL name.
   *
   * The group is `p` for a plan node, `e` for an expression, `o` for another object.
   */
  protected int classIndex(String name, String group, String[] fields, String sqlName) {
    String key = group + name + fields.length;
    Integer known = (Integer) this.classes.get(key);
    if (known != null) return known.intValue();
    int index = this.classes.size();
    this.classes.put(key, Integer.valueOf(index));
    StringBuilder h = this.header;
    if (index > 0) h.append(',');
    h.append('['); JsonText.append(h, name); h.append(",\"").append(group).append("\",[");
    for (int i = 0; i < fields.length; i++) { if (i > 0) h.append(','); JsonText.append(h, fields[i]); }
    h.append("],"); JsonText.append(h, sqlName); h.append(']');
    return index;
  }

  /** Writes any value. A number is written as a string, because an integer is the index of a node. */
  protected void value(StringBuilder b, Object o) {
    if (o == null) { b.append("null"); return; }
    if (o instanceof TreeNode) { b.append(node(o)); return; }
    if (o instanceof String || o instanceof Character) { JsonText.append(b, JsonText.truncate(String.valueOf(o), MAX_STRING_CHARS)); return; }
    if (o instanceof Boolean) { b.append(o); return; }
    if (o instanceof Number) { b.append('"').append(o).append('"'); return; }
    if (o instanceof scala.Option) { scala.Option p = (scala.Option) o; value(b, p.isEmpty() ? null : p.get()); return; }
    if (o instanceof ExprId) { b.append('"').append(((ExprId) o).id()).append('"'); return; }
    if (o instanceof StructType) { schema(b, (StructType) o); return; }
    if (o instanceof StructField) { JsonText.append(b, ((StructField) o).name()); return; }
    if (o instanceof DataType) { JsonText.append(b, JsonText.truncate(((DataType) o).catalogString(), MAX_TYPE_CHARS)); return; }
    if (o instanceof scala.collection.Map) { map(b, ((scala.collection.Map) o).iterator()); return; }
    if (o instanceof java.util.Map) { javaMap(b, (java.util.Map) o); return; }
    if (o instanceof scala.collection.Iterable) { list(b, o); return; }
    if (o instanceof Object[]) { array(b, (Object[]) o); return; }
    if (o instanceof Enum || o instanceof scala.Enumeration.Value) { JsonText.append(b, String.valueOf(o)); return; }
    if (o instanceof scala.Tuple2) { array(b, new Object[] {((scala.Tuple2) o)._1(), ((scala.Tuple2) o)._2()}); return; }
    planObject(b, o);
  }

  /** Writes a case class as its name and its arguments. */
  protected void product(StringBuilder b, scala.Product p) {
    if (p.productArity() == 0) { JsonText.append(b, p.productPrefix()); return; }
    b.append('['); JsonText.append(b, p.productPrefix());
    for (int i = 0; i < p.productArity(); i++) { b.append(','); value(b, p.productElement(i)); }
    b.append(']');
  }

  /** Writes an object as a node of its own; `pairs` are field names and values in turn. */
  protected void record(StringBuilder b, String name, Object[] pairs) {
    StringBuilder inner = new StringBuilder();
    String[] fields = new String[pairs.length / 2];
    for (int i = 0; i < fields.length; i++) { fields[i] = (String) pairs[2 * i]; inner.append(','); value(inner, pairs[2 * i + 1]); }
    StringBuilder node = new StringBuilder();
    node.append('[').append(classIndex(name, "o", fields, null)).append(inner).append(']');
    b.append(add(node));
  }

  protected void schema(StringBuilder b, StructType s) {
    b.append('[');
    StructField[] fields = s.fields();
    for (int i = 0; i < fields.length; i++) {
      if (i > 0) b.append(',');
      b.append('[');
      JsonText.append(b, fields[i].name());
      b.append(',');
      JsonText.append(b, JsonText.truncate(fields[i].dataType().catalogString(), MAX_TYPE_CHARS));
      b.append(']');
    }
    b.append(']');
  }

  protected void list(StringBuilder b, Object o) {
    b.append('[');
    scala.collection.Iterator it = ((scala.collection.Iterable) o).iterator();
    boolean first = true;
    while (it.hasNext()) {
      Object next = it.next();
      if (next instanceof Byte && !first) break; // of raw bytes only the first is written: they carry no lineage
      if (!first) b.append(',');
      first = false;
      value(b, next);
    }
    b.append(']');
  }

  protected void array(StringBuilder b, Object[] all) {
    b.append('[');
    for (int i = 0; i < all.length; i++) { if (i > 0) b.append(','); value(b, all[i]); }
    b.append(']');
  }

  /** Writes the options of a Python data source, which name what it reads; without those whose name or value may be a secret. */
  protected void sourceOptions(StringBuilder b, Object options) {
    java.util.Map all = options instanceof java.util.Map ? (java.util.Map) options
        : options instanceof scala.collection.Map ? scala.collection.JavaConverters.mapAsJavaMap((scala.collection.Map) options) : new HashMap();
    b.append('[');
    boolean first = true;
    Iterator it = new java.util.TreeMap(all).entrySet().iterator();
    while (it.hasNext()) {
      java.util.Map.Entry pair = (java.util.Map.Entry) it.next();
      if (!(pair.getValue() instanceof String) || SECRET.matcher(String.valueOf(pair.getKey())).find()) continue;
      if (!first) b.append(',');
      first = false;
      b.append('['); JsonText.append(b, String.valueOf(pair.getKey())); b.append(','); JsonText.append(b, JsonText.truncate((String) pair.getValue(), MAX_OPTION_CHARS)); b.append(']');
    }
    b.append(']');
  }

  protected void map(StringBuilder b, scala.collection.Iterator it) {
    b.append('[');
    boolean first = true;
    while (it.hasNext()) {
      scala.Tuple2 pair = (scala.Tuple2) it.next();
      first = option(b, first, pair._1(), pair._2());
    }
    b.append(']');
  }

  protected void javaMap(StringBuilder b, java.util.Map map) {
    b.append('[');
    boolean first = true;
    Iterator it = map.entrySet().iterator();
    while (it.hasNext()) {
      java.util.Map.Entry pair = (java.util.Map.Entry) it.next();
      first = option(b, first, pair.getKey(), pair.getValue());
    }
    b.append(']');
  }

  /** Writes one entry of a map if it names a dataset or is a static partition. Returns whether the next entry is still the first. */
  protected boolean option(StringBuilder b, boolean first, Object key, Object content) {
    Object inner = Reflect.unwrap(content);
    boolean namesDataset = key instanceof String && NAMING_OPTIONS.contains(((String) key).toLowerCase(java.util.Locale.ROOT));
    boolean isAllowed = namesDataset || (key instanceof String && !(inner instanceof String));
    if (!isAllowed || (inner != null && !(inner instanceof String) && !(inner instanceof TreeNode))) {
      // a partition spec maps a column to its value, or to None for a dynamic partition
      if (!(key instanceof String && inner == null)) return first;
    }
    if (!first) b.append(',');
    b.append('['); JsonText.append(b, (String) key); b.append(','); value(b, inner); b.append(']');
    return false;
  }
}
