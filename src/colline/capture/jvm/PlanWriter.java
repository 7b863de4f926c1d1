package colline;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.types.StructType;

/**
 * Writes a plan as flat JSON: `classes` holds the argument names of each class of node, `nodes` lists the nodes, children first.
 *
 * A node is `[class, argument, …]`. An integer argument is the index of another node; every other number is a string. So a shared
 * subplan is written once, and the JSON is not nested deeper for a deep plan. Arguments are product elements, read by reflection:
 * one source reads every Spark version. `PlanObjects` decides what is written of an object that is not a tree node.
 */
public class PlanWriter extends PlanObjects implements Runnable {
  private static final int MAX_LEAVES = 1000;
  private static final int MAX_RDDS = 1000;
  private static final int MAX_TYPE_CHARS = 2000;
  private static final int MAX_LITERAL_CHARS = 200;
  private static final int MAX_VALUES_CHARS = 20000;
  private static final int MAX_NAMES = 100;
  /** Text in quotes, or a name such as `x` or `r.a` as the group. */
  private static final java.util.regex.Pattern SQL_NAME = java.util.regex.Pattern.compile("'[^']*+'|\"[^\"]*+\"|([A-Za-z_][\\w]*+(?:\\.[A-Za-z_]\\w*+)*+)");
  private static final long STACK_BYTES = 512L * 1024L * 1024L;

  private final Object plan;
  private final long startTime;
  private final IdentityHashMap indexes = new IdentityHashMap();
  private final HashMap attributes = new HashMap();
  private String message = null;

  /** Nodes whose output follows from their child or their own expressions, so that it is not written. */
  static final HashSet DERIVED_OUTPUT = new HashSet(Arrays.asList(new String[] {"Project", "Aggregate", "Filter", "Sort", "GlobalLimit", "LocalLimit",
      "Offset", "Tail", "SubqueryAlias", "Distinct", "Deduplicate", "DeduplicateWithinWatermark", "Repartition", "RepartitionByExpression",
      "RebalancePartitions", "Sample", "ResolvedHint", "EventTimeWatermark", "CollectMetrics", "CTERelationDef", "WithCTE"}));

  /** SQL functions that are casts: `double(x)`. */
  static final HashSet CAST_FUNCTIONS = new HashSet(Arrays.asList(new String[] {"boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal",
      "date", "timestamp", "binary", "string"}));

  /** A writer without a plan. Python calls `describe` on it. */
  public PlanWriter() { this(null, 0, 0L); }

  public PlanWriter(Object plan, int maxChars, long startTime) { super(maxChars); this.plan = plan; this.startTime = startTime; }

  /**
   * The JSON of a plan. A plan of more than `maxChars` characters is written as its root and its leaves, marked as partial.
   *
   * `startTime` is when its execution started: a table that is older existed before.
   */
  public static String toJson(Object plan, int maxChars, long startTime) {
    try {
      PlanWriter writer = new PlanWriter(plan, maxChars, startTime);
      int root = writer.node(plan);
      return writer.text(root, false);
    } catch (PlanTooLarge x) {
      return partialJson(plan, "larger than the limit", startTime);
    } catch (StackOverflowError x) {
      return partialJson(plan, "deeper than the stack", startTime);
    }
  }

  /** The JSON of a job on RDDs: a node above the plans of the queries that the RDDs were made from. */
  public static String jobJson(java.util.List plans, java.util.List files, String output, int maxChars) {
    PlanWriter writer = new PlanWriter(null, maxChars, 0L);
    StringBuilder b = new StringBuilder();
    String[] fields = {"children", "files", "target"};
    b.append('[').append(writer.classIndex(output == null ? "RddRead" : "RddWrite", "p", fields, null)).append(',');
    StringBuilder children = new StringBuilder();
    for (int i = 0; i < plans.size(); i++) { if (i > 0) children.append(','); children.append(writer.node(plans.get(i))); }
    b.append('[').append(children).append("],");
    writer.array(b, files.toArray());
    b.append(','); JsonText.append(b, output);
    return writer.text(writer.add(b.append(']')), false);
  }

  private static String partialJson(Object plan, String why, long startTime) {
    PlanWriter writer = new PlanWriter(plan, Integer.MAX_VALUE, startTime);
    ArrayList leaves = new ArrayList();
    TreeNode root = (TreeNode) plan;
    Object query = root;
    boolean isCommand = root instanceof Command;
    if (isCommand) { Object q = Reflect.call(root, "query"); if (q == null) q = Reflect.call(root, "source"); if (q != null) query = q; }
    addLeaves(query, leaves);
    int[] indexes = new int[leaves.size()];
    for (int i = 0; i < indexes.length; i++) indexes[i] = writer.node(leaves.get(i));
    StringBuilder inner = new StringBuilder();
    inner.append('[').append(writer.classIndex("Unread", "p", new String[] {"children", "why", "output"}, null)).append(",[");
    for (int i = 0; i < indexes.length; i++) { if (i > 0) inner.append(','); inner.append(indexes[i]); }
    inner.append("],"); JsonText.append(inner, why); inner.append(',');
    writer.list(inner, Reflect.call(query, "output"));
    inner.append(']');
    int unread = writer.add(inner);
    writer.indexes.put(query, Integer.valueOf(unread));
    return writer.text(isCommand ? writer.node(plan) : unread, true);
  }

  private static void addLeaves(Object plan, ArrayList leaves) {
    ArrayList stack = new ArrayList();
    IdentityHashMap seen = new IdentityHashMap();
    stack.add(plan);
    while (!stack.isEmpty()) {
      Object next = stack.remove(stack.size() - 1);
      if (seen.put(next, next) != null) continue;
      scala.collection.Iterator it = ((TreeNode) next).children().iterator();
      boolean isLeaf = !it.hasNext();
      while (it.hasNext()) stack.add(it.next());
      if (isLeaf && leaves.size() < MAX_LEAVES) leaves.add(next);
    }
  }

  /** Whether a query reads a Delta log. Delta runs such queries by itself; they are not the user's. */
  public static boolean readsDeltaLog(Object plan) {
    ArrayList leaves = new ArrayList();
    addLeaves(plan, leaves);
    for (int i = 0; i < leaves.size(); i++) {
      Object relation = Reflect.call(leaves.get(i), "relation");
      Object location = relation == null ? null : Reflect.call(relation, "location");
      if (location != null && location.getClass().getSimpleName().equals("DeltaLogFileIndex")) return true;
    }
    return false;
  }

  /** `{"plan": …}` or `{"failure": …}`, in chunks. Runs on a thread of its own, whose stack is deep enough for deep plans. */
  public Chunks describe(Object plan, int maxChars) throws InterruptedException {
    PlanWriter writer = new PlanWriter(plan, maxChars, System.currentTimeMillis());
    Thread thread = new Thread(null, writer, "colline-describe", STACK_BYTES);
    thread.start();
    thread.join();
    return new Chunks(writer.message);
  }

  public void run() {
    try { this.message = "{\"plan\":" + toJson(this.plan, this.maxChars, this.startTime) + "}"; }
    catch (Throwable x) { this.message = "{\"failure\":\"" + x.getClass().getName() + "\"}"; }
  }

  private String text(int root, boolean isPartial) {
    StringBuilder b = new StringBuilder(this.body.length() + this.header.length() + 64);
    b.append("{\"root\":").append(root).append(isPartial ? ",\"partial\":true" : "");
    b.append(",\"classes\":[").append(this.header).append("],\"nodes\":[").append(this.body).append("]}");
    return b.toString();
  }

  protected int node(Object o) {
    Integer known = (Integer) this.indexes.get(o);
    if (known != null) return known.intValue();
    if (o instanceof AttributeReference) return attribute((AttributeReference) o);
    StringBuilder b = new StringBuilder();
    boolean isPlan = o instanceof LogicalPlan;
    if (o instanceof Alias) {
      Alias a = (Alias) o;
      StringBuilder child = new StringBuilder(); value(child, a.child());
      b.append('[').append(classIndex("Alias", "e", new String[] {"child", "name", "id"}, null)).append(',').append(child).append(',');
      JsonText.append(b, a.name()); b.append(",\"").append(a.exprId().id()).append("\"]");
    } else if (o instanceof Literal) {
      literal(b, (Literal) o);
    } else {
      scala.Product p = (scala.Product) o;
      String name = p.productPrefix();
      int arity = p.productArity();
      String[] fields = Reflect.fieldNames(o, arity);
      StringBuilder arguments = new StringBuilder();
      for (int i = 0; i < arity; i++) { arguments.append(','); argument(arguments, o, fields[i], p.productElement(i)); }
      String[] extra = extraFields(arguments, o, name, isPlan);
      String[] all = new String[arity + extra.length];
      System.arraycopy(fields, 0, all, 0, arity);
      System.arraycopy(extra, 0, all, arity, extra.length);
      String sqlName = isPlan ? null : String.valueOf(Reflect.call(o, "prettyName"));
      b.append('[').append(classIndex(name, isPlan ? "p" : "e", all, sqlName)).append(arguments).append(']');
    }
    int index = add(b);
    this.indexes.put(o, Integer.valueOf(index));
    return index;
  }

  /** Writes facts that are not product elements, such as a node's output or whether the user wrote a cast. Returns their names. */
  private String[] extraFields(StringBuilder b, Object o, String name, boolean isPlan) {
    if (name.equals("Cast")) {
      TreeNode cast = (TreeNode) o;
      boolean isUserCast = cast.getTagValue(org.apache.spark.sql.catalyst.expressions.Cast.USER_SPECIFIED_CAST()).isDefined();
      b.append(isUserCast || isCastFunction(cast.origin()) ? ",true" : ",false");
      return new String[] {"by_user"};
    }
    if (name.equals("ResolvedIdentifier") && "spark_catalog".equals(Reflect.call(Reflect.call(o, "catalog"), "name"))) {
      String[] namespace = ((Identifier) Reflect.call(o, "identifier")).namespace();
      String table = ((Identifier) Reflect.call(o, "identifier")).name();
      Object location = namespace.length == 1 ? location(new TableIdentifier(table, new scala.Some(namespace[0]))) : null;
      b.append(','); JsonText.append(b, (String) location);
      b.append(",[]");
      return new String[] {"location", "output"};
    }
    if (name.equals("LogicalRDD") || name.equals("ExternalRDD")) {
      b.append(','); rddRoots(b, Reflect.call(o, "rdd"));
      if (name.equals("LogicalRDD")) return new String[] {"roots", "rdds", "parents", "files"};
      b.append(','); list(b, Reflect.call(o, "output"));
      return new String[] {"roots", "rdds", "parents", "files", "output"};
    }
    if (o instanceof LocalRelation) {
      b.append(','); array(b, sqlNames(((LocalRelation) o).origin()));
      return new String[] {"names"};
    }
    if (name.equals("GetStructField")) return memberFields(b, o);
    if (name.equals("UpdateFields")) {
      Object type = Reflect.call(o, "dataType");
      b.append(','); array(b, type instanceof StructType ? ((StructType) type).fieldNames() : new String[0]);
      return new String[] {"members"};
    }
    if (name.equals("SaveIntoDataSourceCommand") && String.valueOf(Reflect.call(o, "dataSource")).indexOf("DeltaDataSource") >= 0) {
      b.append(','); deltaColumns(b, DeltaTables.snapshot(o, Reflect.call(o, "dataSource")));
      b.append(ExistingTables.isKept(o, this.startTime) ? ",true" : ",false");
      return join(new String[] {"target_columns", "existed"}, outputFields(b, o, name));
    }
    if ((name.equals("SaveAsV1TableCommand") || name.endsWith("TableAsSelectCommand")) && "Append".equals(String.valueOf(Reflect.call(o, "mode")))) {
      b.append(','); appendedColumns(b, o);
      return join(new String[] {"target_columns"}, outputFields(b, o, name));
    }
    if (isPlan && ExistingTables.maySkip(o)) {
      b.append(ExistingTables.isKept(o, this.startTime) ? ",true" : ",false");
      return join(new String[] {"existed"}, outputFields(b, o, name));
    }
    return isPlan ? outputFields(b, o, name) : new String[0];
  }

  /** The names in the SQL text of VALUES, which may be variables; without the text in quotes. */
  private static Object[] sqlNames(Origin origin) {
    if (origin.sqlText().isEmpty() || origin.startIndex().isEmpty() || origin.stopIndex().isEmpty()) return new Object[0];
    String text = String.valueOf(origin.sqlText().get());
    int from = ((Number) origin.startIndex().get()).intValue();
    int to = Math.min(Math.min(((Number) origin.stopIndex().get()).intValue() + 1, text.length()), from + MAX_VALUES_CHARS);
    if (from < 0 || from >= to) return new Object[0];
    java.util.LinkedHashSet names = new java.util.LinkedHashSet();
    java.util.regex.Matcher found = SQL_NAME.matcher(text.substring(from, to));
    while (found.find() && names.size() < MAX_NAMES) if (found.group(1) != null) names.add(found.group(1).toLowerCase(java.util.Locale.ROOT));
    return names.toArray();
  }

  private static String[] join(String[] first, String[] rest) {
    String[] all = new String[first.length + rest.length];
    System.arraycopy(first, 0, all, 0, first.length);
    System.arraycopy(rest, 0, all, first.length, rest.length);
    return all;
  }

  /** Writes the name of a member as the struct spells it, which may differ from how the query does, and the number of members. */
  private String[] memberFields(StringBuilder b, Object o) {
    Object type = Reflect.call(o, "childSchema");
    Object ordinal = Reflect.call(o, "ordinal");
    boolean isKnown = type instanceof StructType && ordinal instanceof Number;
    Object member = isKnown ? ((StructType) type).fieldNames()[((Number) ordinal).intValue()] : Reflect.call(o, "extractFieldName");
    b.append(','); JsonText.append(b, String.valueOf(member));
    b.append(','); value(b, isKnown ? Integer.valueOf(((StructType) type).fieldNames().length) : null);
    return new String[] {"field", "width"};
  }

  /** Whether a cast was written as a function, `double(x)`. Spark does not mark these as written by the user. */
  private static boolean isCastFunction(Origin origin) {
    if (origin.sqlText().isEmpty() || origin.startIndex().isEmpty() || origin.stopIndex().isEmpty()) return false;
    String text = String.valueOf(origin.sqlText().get());
    int from = ((Number) origin.startIndex().get()).intValue();
    int open = text.indexOf('(', from);
    if (open < 0 || open > ((Number) origin.stopIndex().get()).intValue()) return false;
    return CAST_FUNCTIONS.contains(text.substring(from, open).trim().toLowerCase(java.util.Locale.ROOT));
  }

  /** Writes the output of an operator that does not derive it from its arguments, and the types of the columns that a command writes. */
  private String[] outputFields(StringBuilder b, Object o, String name) {
    java.util.List fields = Arrays.asList(Reflect.fieldNames(o, ((scala.Product) o).productArity()));
    boolean hasOutput = !DERIVED_OUTPUT.contains(name) && !fields.contains("output");
    boolean isCommand = o instanceof Command;
    Object query = isCommand ? Reflect.call(o, fields.contains("query") ? "query" : "plan") : null;
    boolean hasTypes = query instanceof LogicalPlan;
    if (hasOutput) { b.append(','); list(b, Reflect.call(o, "output")); }
    if (hasTypes) { b.append(','); types(b, ((LogicalPlan) query).output().iterator()); }
    if (isCommand) b.append(",true");
    Object[] replaced = isCommand ? replacedRows(o) : null;
    if (replaced != null) { b.append(','); array(b, replaced); }
    ArrayList names = new ArrayList();
    if (hasOutput) names.add("output");
    if (hasTypes) names.add("types");
    if (isCommand) names.add("is_command");
    if (replaced != null) names.add("replaced");
    return (String[]) names.toArray(new String[0]);
  }

  private static void types(StringBuilder b, scala.collection.Iterator it) {
    b.append('[');
    boolean first = true;
    while (it.hasNext()) {
      if (!first) b.append(',');
      first = false;
      Object type = Reflect.call(it.next(), "dataType"); // unresolved in the query that DESCRIBE QUERY describes
      JsonText.append(b, type == null ? "" : JsonText.truncate(((org.apache.spark.sql.types.DataType) type).catalogString(), MAX_TYPE_CHARS));
    }
    b.append(']');
  }

  /**
   * Writes the classes of the RDDs at the start of an RDD's dependencies, the ids of all RDDs it depends on, for each of these the ids
   * of its parents, and the ids and paths of RDDs that read files.
   */
  private void rddRoots(StringBuilder b, Object rdd) {
    ArrayList stack = new ArrayList();
    IdentityHashMap seen = new IdentityHashMap();
    ArrayList classNames = new ArrayList();
    ArrayList ids = new ArrayList();
    ArrayList parents = new ArrayList();
    ArrayList files = new ArrayList();
    IdentityHashMap names = new IdentityHashMap(); // of the RDD that reads from another: `wholeTextFiles` names only that one
    if (rdd != null) stack.add(rdd);
    while (!stack.isEmpty() && seen.size() < MAX_RDDS) {
      RDD next = (RDD) stack.remove(stack.size() - 1);
      if (seen.put(next, next) != null) continue;
      boolean isNamedAbove = next.name() == null && next.getClass().getSimpleName().equals("WholeTextFileRDD");
      String path = isNamedAbove ? (String) names.get(next) : next.name();
      ids.add(String.valueOf(next.id()));
      scala.collection.Iterator it = next.dependencies().iterator();
      if (!it.hasNext()) classNames.add(next.getClass().getSimpleName());
      if (!it.hasNext() && Rdds.readsFiles(next.getClass().getSimpleName()) && path != null) {
        files.add(new Object[] {String.valueOf(next.id()), path});
      }
      ArrayList parentIds = new ArrayList();
      while (it.hasNext()) {
        RDD parent = ((org.apache.spark.Dependency) it.next()).rdd();
        parentIds.add(String.valueOf(parent.id()));
        names.put(parent, next.name());
        stack.add(parent);
      }
      parents.add(parentIds.toArray());
    }
    array(b, classNames.toArray());
    b.append(','); array(b, ids.toArray());
    b.append(','); array(b, parents.toArray());
    b.append(','); array(b, files.toArray());
  }

  /** Writes one argument. The rows of a LocalRelation are data and are left out. */
  private void argument(StringBuilder b, Object owner, String field, Object o) {
    if (owner instanceof LocalRelation && field.equals("data")) { b.append("null"); return; }
    if (field.toLowerCase(java.util.Locale.ROOT).endsWith("options") && isPythonTable(Reflect.call(owner, "table"))) { sourceOptions(b, o); return; }
    value(b, o);
  }

  /** Columns occur many times in a plan; each id and name is written once. */
  private int attribute(AttributeReference a) {
    String key = a.exprId().id() + " " + a.name();
    Integer known = (Integer) this.attributes.get(key);
    if (known != null) return known.intValue();
    StringBuilder b = new StringBuilder();
    b.append('[').append(classIndex("AttributeReference", "e", new String[] {"name", "id", "type"}, null)).append(',');
    JsonText.append(b, a.name());
    b.append(",\"").append(a.exprId().id()).append("\",");
    JsonText.append(b, JsonText.truncate(a.dataType().catalogString(), MAX_TYPE_CHARS));
    b.append(']');
    int index = add(b);
    this.attributes.put(key, Integer.valueOf(index));
    return index;
  }

  private void literal(StringBuilder b, Literal l) {
    String text = "?";
    Object v = l.value();
    if (v == null) text = "NULL";
    else if (v instanceof Number || v instanceof Boolean || v.getClass().getName().equals("org.apache.spark.unsafe.types.UTF8String")) {
      String raw = v.toString();
      text = raw.length() > MAX_LITERAL_CHARS ? "'" + raw.substring(0, MAX_LITERAL_CHARS) + "…'" : l.sql();
    } else if (v instanceof org.apache.spark.sql.types.Decimal) text = l.sql();
    b.append('[').append(classIndex("Literal", "e", new String[] {"sql", "type"}, null)).append(',');
    JsonText.append(b, text); b.append(',');
    JsonText.append(b, JsonText.truncate(l.dataType().catalogString(), MAX_LITERAL_CHARS));
    b.append(']');
  }
}
