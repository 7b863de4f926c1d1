package colline;

import java.util.ArrayList;

/** Tables, files, relations, functions: what stands in a plan and is no tree node. */
public abstract class PlanObjects extends Values {
  protected PlanObjects(int limit) { super(limit); }

  protected void thing(StringBuilder b, Object o) {
    String name = o.getClass().getName();
    if (o instanceof org.apache.spark.sql.catalyst.catalog.CatalogTable) { table(b, (org.apache.spark.sql.catalyst.catalog.CatalogTable) o); return; }
    if (o instanceof org.apache.spark.sql.catalyst.TableIdentifier) { named(b, (org.apache.spark.sql.catalyst.TableIdentifier) o); return; }
    if (o instanceof org.apache.spark.sql.execution.datasources.HadoopFsRelation) { files(b, (org.apache.spark.sql.execution.datasources.HadoopFsRelation) o); return; }
    if (o instanceof org.apache.spark.sql.execution.datasources.FileIndex) { record(b, "FileIndex", new Object[] {"paths", ((org.apache.spark.sql.execution.datasources.FileIndex) o).rootPaths(), "version", Reflect.call(o, "tableVersion")}); return; }
    if (o instanceof org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat) {
      record(b, "Storage", new Object[] {"location", uri(((org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat) o).locationUri()), "provider", Reflect.call(o, "provider")}); return; }
    if (o instanceof org.apache.hadoop.fs.Path || o instanceof java.net.URI) { JsonText.string(b, o.toString()); return; }
    if (o instanceof org.apache.spark.sql.connector.catalog.Identifier) { identifier(b, (org.apache.spark.sql.connector.catalog.Identifier) o); return; }
    if (o instanceof org.apache.spark.sql.connector.catalog.CatalogPlugin) { record(b, "Catalog", new Object[] {"name", ((org.apache.spark.sql.connector.catalog.CatalogPlugin) o).name(), "class", name}); return; }
    if (o instanceof org.apache.spark.sql.connector.catalog.Table) { connector(b, (org.apache.spark.sql.connector.catalog.Table) o); return; }
    if (o instanceof org.apache.spark.sql.sources.BaseRelation) { relation(b, o); return; }
    if (name.endsWith("CommonExpressionId")) { value(b, Reflect.call(o, "id")); return; }
    if (name.endsWith("PythonFunction")) { python(b, o); return; }
    if (name.endsWith(".DataSource")) { record(b, "DataSource", new Object[] {"provider", Reflect.call(o, "className"), "paths", Reflect.call(o, "paths"), "options", Reflect.call(o, "options")}); return; }
    if (name.endsWith("TableSpec")) { record(b, "TableSpec", new Object[] {"provider", Reflect.call(o, "provider"), "location", Reflect.call(o, "location")}); return; }
    if (o instanceof org.apache.spark.sql.execution.datasources.FileFormat) { JsonText.string(b, o.getClass().getSimpleName()); return; }
    if (o instanceof scala.Product && name.startsWith("org.apache.spark.sql.catalyst.plans.")) { product(b, (scala.Product) o); return; }
    if (o instanceof scala.Product && name.startsWith("org.apache.spark.sql.catalyst.analysis.")) { product(b, (scala.Product) o); return; }
    if (name.endsWith(".SQLFunction")) { value(b, Reflect.call(Reflect.call(o, "name"), "funcName")); return; }
    if (name.startsWith("org.apache.spark.sql.delta.commands.Clone") && name.endsWith("Source")) {
      record(b, "CloneSource", new Object[] {"format", Reflect.call(o, "format"), "path", Reflect.call(o, "dataPath"), "catalog_table", Reflect.call(o, "catalogTable"), "schema", Reflect.call(o, "schema")}); return; }
    if (name.endsWith("DeltaLog")) { record(b, "DeltaLog", new Object[] {"path", Reflect.call(o, "dataPath")}); return; }
    JsonText.string(b, "<" + name + ">");
  }

  protected void named(StringBuilder b, org.apache.spark.sql.catalyst.TableIdentifier id) {
    record(b, "TableIdentifier", new Object[] {"identifier", parts(id), "location", home(id)});
  }

  /** Where the session's catalog puts, or would put, a table of that name; null where it does not say. */
  public static Object home(org.apache.spark.sql.catalyst.TableIdentifier id) {
    try {
      scala.Option session = org.apache.spark.sql.SparkSession.getDefaultSession();
      if (session.isEmpty()) return null;
      org.apache.spark.sql.catalyst.catalog.SessionCatalog catalog = (org.apache.spark.sql.catalyst.catalog.SessionCatalog) Reflect.call(Reflect.call(session.get(), "sessionState"), "catalog");
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

  public static Object uri(scala.Option location) { return location == null || location.isEmpty() ? null : location.get().toString(); }

  protected void table(StringBuilder b, org.apache.spark.sql.catalyst.catalog.CatalogTable t) {
    Object location = uri(t.storage().locationUri());
    if (location == null && t.tableType().name().equals("MANAGED")) location = home(t.identifier());
    record(b, "CatalogTable", new Object[] {"identifier", parts(t.identifier()), "provider", t.provider(), "location", location,
        "type", t.tableType().name(), "schema", t.schema(), "partitions", t.partitionColumnNames(), "options", t.storage().properties()});
  }

  public static Object parts(org.apache.spark.sql.catalyst.TableIdentifier id) {
    Object catalog = Reflect.held(Reflect.call(id, "catalog"));
    ArrayList found = new ArrayList();
    if (catalog != null) found.add(catalog);
    if (id.database().isDefined()) found.add(id.database().get());
    found.add(id.table());
    return found.toArray();
  }

  protected void files(StringBuilder b, org.apache.spark.sql.execution.datasources.HadoopFsRelation r) {
    record(b, "HadoopFsRelation", new Object[] {"paths", r.location().rootPaths(), "format", r.fileFormat().getClass().getSimpleName(), "options", r.options(),
        "partitions", r.partitionSchema().fieldNames(), "version", Reflect.call(r.location(), "tableVersion")});
  }

  protected void identifier(StringBuilder b, org.apache.spark.sql.connector.catalog.Identifier id) {
    String[] namespace = id.namespace();
    String[] all = new String[namespace.length + 1];
    System.arraycopy(namespace, 0, all, 0, namespace.length);
    all[namespace.length] = id.name();
    array(b, all);
  }

  /** A catalog's table: only what is in memory already, for asking some of them for properties reads storage. */
  protected void connector(StringBuilder b, org.apache.spark.sql.connector.catalog.Table t) {
    String name = t.getClass().getName();
    if (name.endsWith("RowLevelOperationTable")) { connector(b, (org.apache.spark.sql.connector.catalog.Table) Reflect.call(t, "table")); return; }
    Object path = null;
    Object provider = null;
    Object options = null;
    Object catalog = null;
    Object version = null;
    if (name.endsWith("DeltaTableV2")) { path = Reflect.call(t, "path"); provider = "delta"; catalog = Reflect.call(t, "catalogTable"); }
    else if (name.indexOf("iceberg") >= 0) {
      Object inner = Reflect.call(t, "table");
      path = inner == null ? null : Reflect.call(inner, "location");
      provider = "iceberg";
      Object snapshot = inner == null ? null : Reflect.call(inner, "currentSnapshot");
      version = snapshot == null ? null : Reflect.call(snapshot, "snapshotId");
    }
    else if (name.endsWith("V1Table")) { catalog = Reflect.call(t, "v1Table"); }
    else if (Reflect.call(t, "paths") != null) { path = Reflect.call(t, "paths"); provider = Reflect.call(t, "formatName"); options = Reflect.call(t, "options"); }
    else if (name.endsWith("JDBCTable")) { Object jdbc = Reflect.call(t, "jdbcOptions"); provider = "jdbc"; options = jdbc == null ? null : Reflect.call(Reflect.call(jdbc, "parameters"), "originalMap"); }
    else { options = Reflect.call(t, "options"); }
    // a stream's old kind of sink is a table that must not be asked for its name: its text says what it is
    Object known = Reflect.call(t, "name");
    record(b, "Table", new Object[] {"name", known, "class", name, "provider", provider, "path", path, "catalog_table", catalog, "options", options,
        "columns", columns(t), "generated", generated(t), "version", version, "description", known == null ? String.valueOf(t) : null});
  }

  public static Object columns(org.apache.spark.sql.connector.catalog.Table t) {
    Object schema = Reflect.call(t, "schema");
    return schema instanceof org.apache.spark.sql.types.StructType ? ((org.apache.spark.sql.types.StructType) schema).fieldNames() : null;
  }

  /** The columns that Delta computes from others: name, expression, and the columns in it. */
  public static Object generated(org.apache.spark.sql.connector.catalog.Table t) {
    Object snapshot = t.getClass().getName().endsWith("DeltaTableV2") ? Reflect.call(t, "initialSnapshot") : null;
    Object schema = snapshot == null ? null : Reflect.call(snapshot, "schema");
    if (!(schema instanceof org.apache.spark.sql.types.StructType)) return null;
    org.apache.spark.sql.types.StructField[] fields = ((org.apache.spark.sql.types.StructType) schema).fields();
    ArrayList found = new ArrayList();
    for (int i = 0; i < fields.length; i++) {
      if (!fields[i].metadata().contains("delta.generationExpression")) continue;
      String text = fields[i].metadata().getString("delta.generationExpression");
      ArrayList one = new ArrayList();
      one.add(fields[i].name());
      one.add(text);
      mentioned(new org.apache.spark.sql.catalyst.parser.CatalystSqlParser().parseExpression(text), one);
      found.add(one.toArray());
    }
    return found.toArray();
  }

  private static void mentioned(org.apache.spark.sql.catalyst.expressions.Expression e, ArrayList into) {
    if (e instanceof org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute) into.add(((org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute) e).nameParts().head());
    scala.collection.Iterator it = e.children().iterator();
    while (it.hasNext()) mentioned((org.apache.spark.sql.catalyst.expressions.Expression) it.next(), into);
  }

  protected void relation(StringBuilder b, Object o) {
    Object options = Reflect.call(o, "jdbcOptions");
    Object parameters = options == null ? null : Reflect.call(options, "parameters");
    Object original = parameters == null ? null : Reflect.call(parameters, "originalMap");
    if (original == null) original = parameters;
    if (original == null) original = Reflect.call(o, "parameters");
    if (original == null) original = Reflect.call(o, "sourceOptions");
    if (original == null) original = Reflect.call(o, "options");
    record(b, "Relation", new Object[] {"class", o.getClass().getName(), "options", original});
  }

  protected void python(StringBuilder b, Object o) {
    Object command = Reflect.call(o, "command");
    byte[] bytes = null;
    if (command instanceof byte[]) bytes = (byte[]) command;
    else if (command instanceof scala.collection.Seq) {
      scala.collection.Seq seq = (scala.collection.Seq) command;
      Object array = Reflect.call(seq, "unsafeArray");
      if (array == null) array = Reflect.call(seq, "array");
      if (array instanceof byte[]) bytes = (byte[]) array;
    }
    String text = bytes == null || bytes.length > 300000 ? null : java.util.Base64.getEncoder().encodeToString(bytes);
    record(b, "PythonFunction", new Object[] {"command", text});
  }
}
