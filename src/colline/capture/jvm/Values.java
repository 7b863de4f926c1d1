package colline;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;

/** Values as flat JSON: numbered nodes, lists, maps, records. */
public abstract class Values {
  protected final int limit;
  private final HashMap classes = new HashMap();
  protected final StringBuilder header = new StringBuilder();
  protected final StringBuilder body = new StringBuilder(8192);
  private int count = 0;

  /** The only options that are ever read: what naming a dataset needs. */
  static final HashSet OPTIONS = new HashSet(Arrays.asList(new String[] {"path", "paths", "url", "dbtable", "query", "table", "topic", "subscribe",
      "subscribepattern", "basepath", "assign", "kafka.bootstrap.servers", "catalog", "database", "dbschema", "collection", "sfurl", "sfdatabase", "sfschema",
      "sfaccount", "parentproject", "project", "dataset", "provider", "location", "replacewhere", "partitionoverwritemode", "mergeschema",
      "overwriteschema", "versionasof", "timestampasof", "readchangefeed", "spark.cosmos.accountendpoint", "spark.cosmos.container",
      "spark.cosmos.database", "cluster", "keyspace", "kustocluster", "kustodatabase", "kustotable", "streamname", "region", "projectid", "topicid", "subscriptionid",
      "spark.cassandra.connection.host", "spark.cassandra.connection.port", "es.port", "snapshot-id", "es.nodes", "es.resource", "host", "port"}));

  protected Values(int limit) { this.limit = limit; }

  /** The place of a tree node in the list; it is written there the first time. */
  protected abstract int node(Object o);

  /** An object that is no tree node, as the few facts that naming and lineage need. */
  protected abstract void thing(StringBuilder b, Object o);

  /** There is more than the limit. */
  public static class Full extends RuntimeException { }

  protected int add(StringBuilder node) {
    if (this.body.length() + node.length() > this.limit) throw new Full();
    if (this.count > 0) this.body.append(',');
    this.body.append(node);
    this.count++;
    return this.count - 1;
  }

  protected int kind(String name, String sort, String[] fields, String pretty) {
    String key = sort + name + fields.length;
    Integer known = (Integer) this.classes.get(key);
    if (known != null) return known.intValue();
    int place = this.classes.size();
    this.classes.put(key, Integer.valueOf(place));
    StringBuilder h = this.header;
    if (place > 0) h.append(',');
    h.append('['); JsonText.string(h, name); h.append(",\"").append(sort).append("\",[");
    for (int i = 0; i < fields.length; i++) { if (i > 0) h.append(','); JsonText.string(h, fields[i]); }
    h.append("],"); JsonText.string(h, pretty); h.append(']');
    return place;
  }

  protected void value(StringBuilder b, Object o) {
    if (o == null) { b.append("null"); return; }
    if (o instanceof org.apache.spark.sql.catalyst.trees.TreeNode) { b.append(node(o)); return; }
    if (o instanceof String || o instanceof Character) { JsonText.string(b, JsonText.cut(String.valueOf(o), 20000)); return; }
    if (o instanceof Boolean) { b.append(o); return; }
    if (o instanceof Number) { b.append('"').append(o).append('"'); return; }
    if (o instanceof scala.Option) { scala.Option p = (scala.Option) o; value(b, p.isEmpty() ? null : p.get()); return; }
    if (o instanceof org.apache.spark.sql.catalyst.expressions.ExprId) { b.append('"').append(((org.apache.spark.sql.catalyst.expressions.ExprId) o).id()).append('"'); return; }
    if (o instanceof org.apache.spark.sql.types.StructType) { structure(b, (org.apache.spark.sql.types.StructType) o); return; }
    if (o instanceof org.apache.spark.sql.types.StructField) { JsonText.string(b, ((org.apache.spark.sql.types.StructField) o).name()); return; }
    if (o instanceof org.apache.spark.sql.types.DataType) { JsonText.string(b, JsonText.cut(((org.apache.spark.sql.types.DataType) o).catalogString(), 2000)); return; }
    if (o instanceof scala.collection.Map) { map(b, ((scala.collection.Map) o).iterator()); return; }
    if (o instanceof java.util.Map) { javaMap(b, (java.util.Map) o); return; }
    if (o instanceof scala.collection.Iterable) { seq(b, o); return; }
    if (o instanceof Object[]) { array(b, (Object[]) o); return; }
    if (o instanceof Enum || o instanceof scala.Enumeration.Value) { JsonText.string(b, String.valueOf(o)); return; }
    if (o instanceof scala.Tuple2) { scala.Tuple2 t = (scala.Tuple2) o; b.append('['); value(b, t._1()); b.append(','); value(b, t._2()); b.append(']'); return; }
    thing(b, o);
  }

  protected void product(StringBuilder b, scala.Product p) {
    if (p.productArity() == 0) { JsonText.string(b, p.productPrefix()); return; }
    b.append('['); JsonText.string(b, p.productPrefix());
    for (int i = 0; i < p.productArity(); i++) { b.append(','); value(b, p.productElement(i)); }
    b.append(']');
  }

  protected void record(StringBuilder b, String name, Object[] pairs) {
    StringBuilder inner = new StringBuilder();
    String[] fields = new String[pairs.length / 2];
    for (int i = 0; i < fields.length; i++) { fields[i] = (String) pairs[2 * i]; inner.append(','); value(inner, pairs[2 * i + 1]); }
    StringBuilder node = new StringBuilder();
    node.append('[').append(kind(name, "o", fields, null)).append(inner).append(']');
    b.append(add(node));
  }

  protected void structure(StringBuilder b, org.apache.spark.sql.types.StructType s) {
    b.append('[');
    org.apache.spark.sql.types.StructField[] fields = s.fields();
    for (int i = 0; i < fields.length; i++) {
      if (i > 0) b.append(',');
      b.append('['); JsonText.string(b, fields[i].name()); b.append(','); JsonText.string(b, JsonText.cut(fields[i].dataType().catalogString(), 2000)); b.append(']');
    }
    b.append(']');
  }

  protected void seq(StringBuilder b, Object o) {
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

  protected void array(StringBuilder b, Object[] all) {
    b.append('[');
    for (int i = 0; i < all.length; i++) { if (i > 0) b.append(','); value(b, all[i]); }
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

  protected boolean option(StringBuilder b, boolean first, Object key, Object found) {
    Object inner = Reflect.held(found);
    boolean known = key instanceof String && (OPTIONS.contains(((String) key).toLowerCase(java.util.Locale.ROOT)) || !(inner instanceof String));
    if (!known || (inner != null && !(inner instanceof String) && !(inner instanceof org.apache.spark.sql.catalyst.trees.TreeNode))) {
      // a static partition is a map from its column to its value, or to nothing
      if (!(key instanceof String && inner == null)) return first;
    }
    if (!first) b.append(',');
    b.append('['); JsonText.string(b, (String) key); b.append(','); value(b, inner); b.append(']');
    return false;
  }
}
