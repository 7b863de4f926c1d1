package colline;

import java.util.ArrayList;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Writes the objects of a plan that are not tree nodes: tables, files, relations, functions. */
public abstract class PlanObjects extends Values {
  private static final int MAX_PICKLE_BYTES = 300000;

  protected PlanObjects(int maxChars) { super(maxChars); }

  /** An object of a class without a rule is written as the name of its class. */
  protected void planObject(StringBuilder b, Object o) {
    String name = o.getClass().getName();
    if (o instanceof CatalogTable) table(b, (CatalogTable) o);
    else if (o instanceof TableIdentifier) tableIdentifier(b, (TableIdentifier) o);
    else if (o instanceof HadoopFsRelation) fileRelation(b, (HadoopFsRelation) o);
    else if (o instanceof FileIndex) {
      record(b, "FileIndex", new Object[] {"paths", ((FileIndex) o).rootPaths(), "version", Reflect.call(o, "tableVersion")});
    }
    else if (o instanceof CatalogStorageFormat) {
      Object location = uri(((CatalogStorageFormat) o).locationUri());
      record(b, "Storage", new Object[] {"location", location, "provider", Reflect.call(o, "provider")});
    }
    else if (o instanceof org.apache.hadoop.fs.Path || o instanceof java.net.URI) JsonText.append(b, o.toString());
    else if (o instanceof Identifier) identifier(b, (Identifier) o);
    else if (o instanceof CatalogPlugin) record(b, "Catalog", new Object[] {"name", ((CatalogPlugin) o).name(), "class", name});
    else if (o instanceof Table) catalogTable(b, (Table) o);
    else if (o instanceof org.apache.spark.sql.sources.BaseRelation) relation(b, o);
    else if (name.endsWith("CommonExpressionId")) value(b, Reflect.call(o, "id"));
    else if (name.endsWith("PythonFunction")) pythonFunction(b, o);
    else if (name.endsWith(".DataSource")) {
      Object provider = Reflect.call(o, "className");
      Object paths = Reflect.call(o, "paths");
      record(b, "DataSource", new Object[] {"provider", provider, "paths", paths, "options", Reflect.call(o, "options")});
    }
    else if (name.endsWith("TableSpec")) {
      record(b, "TableSpec", new Object[] {"provider", Reflect.call(o, "provider"), "location", Reflect.call(o, "location")});
    }
    else if (o instanceof FileFormat) JsonText.append(b, o.getClass().getSimpleName());
    else if (o instanceof scala.Product && name.startsWith("org.apache.spark.sql.catalyst.plans.")) product(b, (scala.Product) o);
    else if (o instanceof scala.Product && name.startsWith("org.apache.spark.sql.catalyst.analysis.")) product(b, (scala.Product) o);
    else if (name.endsWith(".SQLFunction")) value(b, Reflect.call(Reflect.call(o, "name"), "funcName"));
    else if (name.startsWith("org.apache.spark.sql.delta.commands.Clone") && name.endsWith("Source")) {
      record(b, "CloneSource", new Object[] {"format", Reflect.call(o, "format"), "path", Reflect.call(o, "dataPath"),
          "catalog_table", Reflect.call(o, "catalogTable"), "schema", Reflect.call(o, "schema")});
    }
    else if (name.endsWith("KafkaStreamingWrite")) {
      Object parameters = Reflect.field(o, "producerParams");
      Object servers = parameters instanceof java.util.Map ? ((java.util.Map) parameters).get("bootstrap.servers") : null;
      record(b, "KafkaWrite", new Object[] {"topic", Reflect.field(o, "topic"), "servers", servers});
    }
    else if (name.endsWith("DeltaLog")) record(b, "DeltaLog", new Object[] {"path", Reflect.call(o, "dataPath")});
    else JsonText.append(b, "<" + name + ">");
  }

  protected void tableIdentifier(StringBuilder b, TableIdentifier id) {
    CatalogTable known = knownTable(id);
    record(b, "TableIdentifier", new Object[] {"identifier", nameParts(id), "location", location(id),
        "is_external", Boolean.valueOf(known != null && known.tableType().name().equals("EXTERNAL")), "schema", known == null ? null : known.schema()});
  }

  /** The definition of a table in the session catalog; null if it does not exist. */
  private static CatalogTable knownTable(TableIdentifier id) {
    try {
      SessionCatalog catalog = (SessionCatalog) Reflect.call(Reflect.call(org.apache.spark.sql.SparkSession.getDefaultSession().get(), "sessionState"), "catalog");
      return catalog.getTableMetadata(id);
    } catch (Throwable x) {
      return null;
    }
  }

  /** The location of a table in the session catalog, or the one it would get if it does not exist; null if unknown. */
  public static Object location(TableIdentifier id) {
    try {
      scala.Option session = org.apache.spark.sql.SparkSession.getDefaultSession();
      if (session.isEmpty()) return null;
      SessionCatalog catalog = (SessionCatalog) Reflect.call(Reflect.call(session.get(), "sessionState"), "catalog");
      try {
        scala.Option uri = catalog.getTableMetadata(id).storage().locationUri();
        if (uri.isDefined()) return uri.get().toString();
      } catch (Exception absent) {
        // the table does not exist yet, or has just been dropped
      }
      return catalog.defaultTablePath(id).toString();
    } catch (Throwable x) {
      return null;
    }
  }

  private static Object uri(scala.Option location) { return location == null || location.isEmpty() ? null : location.get().toString(); }

  protected void table(StringBuilder b, CatalogTable t) {
    Object location = uri(t.storage().locationUri());
    if (location == null && t.tableType().name().equals("MANAGED")) location = location(t.identifier());
    record(b, "CatalogTable", new Object[] {"identifier", nameParts(t.identifier()), "provider", t.provider(), "location", location,
        "type", t.tableType().name(), "schema", t.schema(), "partitions", t.partitionColumnNames(), "options", t.storage().properties()});
  }

  public static Object nameParts(TableIdentifier id) {
    Object catalog = Reflect.unwrap(Reflect.call(id, "catalog"));
    ArrayList parts = new ArrayList();
    if (catalog != null) parts.add(catalog);
    if (id.database().isDefined()) parts.add(id.database().get());
    parts.add(id.table());
    return parts.toArray();
  }

  protected void fileRelation(StringBuilder b, HadoopFsRelation r) {
    String format = r.fileFormat().getClass().getSimpleName();
    record(b, "HadoopFsRelation", new Object[] {"paths", r.location().rootPaths(), "format", format, "options", r.options(),
        "partitions", r.partitionSchema().fieldNames(), "version", Reflect.call(r.location(), "tableVersion")});
  }

  protected void identifier(StringBuilder b, Identifier id) {
    String[] namespace = id.namespace();
    String[] all = new String[namespace.length + 1];
    System.arraycopy(namespace, 0, all, 0, namespace.length);
    all[namespace.length] = id.name();
    array(b, all);
  }

  /** Writes a table of a catalog, from what is in memory: the properties of some tables would be read from storage. */
  protected void catalogTable(StringBuilder b, Table t) {
    String name = t.getClass().getName();
    if (name.endsWith("RowLevelOperationTable")) { catalogTable(b, (Table) Reflect.call(t, "table")); return; }
    Object path = null;
    Object provider = null;
    Object options = null;
    Object catalog = null;
    Object version = null;
    Object iceberg = null;
    if (name.endsWith("DeltaTableV2")) {
      path = Reflect.call(t, "path");
      provider = "delta";
      catalog = Reflect.call(t, "catalogTable");
    } else if (isPythonTable(t)) {
      provider = Reflect.call(t, "name");
    } else if (name.indexOf("iceberg") >= 0) {
      Object table = Reflect.call(t, "table");
      // the table of changes
      if (table == null) table = Reflect.field(t, "table");
      if (table == null) table = Reflect.field(t, "icebergTable");
      path = Reflect.call(table, "location");
      provider = "iceberg";
      iceberg = Reflect.call(table, "name");
      version = Reflect.call(Reflect.call(table, "currentSnapshot"), "snapshotId");
      // `t.snapshots` has columns of its own, so it has a name of its own
      if (isMetadataTable(table)) path = path + "." + String.valueOf(iceberg).substring(String.valueOf(iceberg).lastIndexOf('.') + 1);
    } else if (name.endsWith("V1Table")) {
      catalog = Reflect.call(t, "v1Table");
    } else if (Reflect.call(t, "paths") != null) {
      path = Reflect.call(t, "paths");
      provider = Reflect.call(t, "formatName");
      options = Reflect.call(t, "options");
    } else if (name.endsWith("JDBCTable")) {
      provider = "jdbc";
      options = Reflect.call(Reflect.call(Reflect.call(t, "jdbcOptions"), "parameters"), "originalMap");
    } else {
      options = Reflect.call(t, "options");
    }
    Object snapshot = name.endsWith("DeltaTableV2") ? Reflect.call(t, "initialSnapshot") : null;
    if (name.endsWith("DeltaSink")) snapshot = DeltaTables.snapshotAt(String.valueOf(Reflect.call(t, "path")), t);
    Object columns = name.endsWith("DeltaSink") && snapshot != null ? ((StructType) Reflect.call(snapshot, "schema")).fieldNames() : columnNames(t);
    // a V1 sink of a stream throws when its name is read; its toString() describes it
    Object tableName = Reflect.call(t, "name");
    record(b, "Table", new Object[] {"name", iceberg == null ? tableName : iceberg, "class", name, "provider", provider, "path", path, "catalog_table", catalog,
        "options", options, "columns", columns, "generated", generatedColumns(snapshot), "version", version,
        "description", tableName == null ? String.valueOf(t) : null});
  }

  private static boolean isMetadataTable(Object table) {
    for (Class c = table == null ? null : table.getClass(); c != null; c = c.getSuperclass()) {
      if (c.getSimpleName().equals("BaseMetadataTable")) return true;
    }
    return false;
  }

  protected static boolean isPythonTable(Object table) { return table != null && table.getClass().getName().endsWith(".PythonTable"); }

  private static Object columnNames(Table t) {
    Object schema = Reflect.call(t, "schema");
    return schema instanceof StructType ? ((StructType) schema).fieldNames() : null;
  }

  /** Writes the columns of a Delta table that a statement names by its path. */
  protected void deltaColumns(StringBuilder b, Object snapshot) {
    Object schema = Reflect.call(snapshot, "schema");
    if (!(schema instanceof StructType)) { b.append("null"); return; }
    record(b, "TargetColumns", new Object[] {"columns", ((StructType) schema).fieldNames(), "generated", generatedColumns(snapshot)});
  }

  /** Writes the columns of the table of the session catalog that a statement appends to; null if it creates the table. */
  protected void appendedColumns(StringBuilder b, Object command) {
    Object table = Reflect.call(command, "tableDesc");
    if (table == null) table = Reflect.call(command, "table");
    CatalogTable known = table instanceof CatalogTable ? knownTable(((CatalogTable) table).identifier()) : null;
    if (known == null) { b.append("null"); return; }
    record(b, "TargetColumns", new Object[] {"columns", known.schema().fieldNames()});
  }

  /** The generated columns of a Delta table: for each its name, its expression, and the columns in the expression. */
  private static Object generatedColumns(Object snapshot) {
    Object schema = snapshot == null ? null : Reflect.call(snapshot, "schema");
    if (!(schema instanceof StructType)) return null;
    StructField[] fields = ((StructType) schema).fields();
    ArrayList columns = new ArrayList();
    for (int i = 0; i < fields.length; i++) {
      if (!fields[i].metadata().contains("delta.generationExpression")) continue;
      String text = fields[i].metadata().getString("delta.generationExpression");
      ArrayList column = new ArrayList();
      column.add(fields[i].name());
      column.add(text);
      addReferences(new org.apache.spark.sql.catalyst.parser.CatalystSqlParser().parseExpression(text), column);
      columns.add(column.toArray());
    }
    return columns.toArray();
  }

  /** The condition in the option `replaceWhere` of a write, and the columns in it; null without that option. */
  protected static Object[] replacedRows(Object command) {
    Object options = Reflect.call(command, "options");
    if (!(options instanceof scala.collection.Map)) options = Reflect.call(command, "writeOptions");
    if (!(options instanceof scala.collection.Map)) return null;
    scala.collection.Iterator it = ((scala.collection.Map) options).iterator();
    while (it.hasNext()) {
      scala.Tuple2 option = (scala.Tuple2) it.next();
      if (!"replacewhere".equalsIgnoreCase(String.valueOf(option._1()))) continue;
      ArrayList found = new ArrayList();
      found.add(String.valueOf(option._2()));
      addReferences(new org.apache.spark.sql.catalyst.parser.CatalystSqlParser().parseExpression(String.valueOf(option._2())), found);
      return found.toArray();
    }
    return null;
  }

  private static void addReferences(Expression e, ArrayList into) {
    if (e instanceof UnresolvedAttribute) into.add(((UnresolvedAttribute) e).nameParts().head());
    scala.collection.Iterator it = e.children().iterator();
    while (it.hasNext()) addReferences((Expression) it.next(), into);
  }

  /** Writes a V1 relation with its options. For JDBC these are the options as the user wrote them. */
  protected void relation(StringBuilder b, Object o) {
    Object jdbcOptions = Reflect.call(Reflect.call(o, "jdbcOptions"), "parameters");
    Object options = Reflect.call(jdbcOptions, "originalMap");
    if (options == null) options = jdbcOptions;
    if (options == null) options = Reflect.call(o, "parameters");
    if (options == null) options = Reflect.call(o, "sourceOptions");
    if (options == null) options = Reflect.call(o, "options");
    if (options == null) options = Reflect.field(o, "sourceOptions"); // Kafka
    record(b, "Relation", new Object[] {"class", o.getClass().getName(), "options", options});
  }

  /** Writes the pickled code of a Python UDF, which Python inspects to find out whether it masks a value. */
  protected void pythonFunction(StringBuilder b, Object o) {
    Object command = Reflect.call(o, "command");
    byte[] bytes = null;
    if (command instanceof byte[]) bytes = (byte[]) command;
    else if (command instanceof scala.collection.Seq) {
      scala.collection.Seq seq = (scala.collection.Seq) command;
      Object array = Reflect.call(seq, "unsafeArray");
      if (array == null) array = Reflect.call(seq, "array");
      if (array instanceof byte[]) bytes = (byte[]) array;
    }
    String text = bytes == null || bytes.length > MAX_PICKLE_BYTES ? null : java.util.Base64.getEncoder().encodeToString(bytes);
    record(b, "PythonFunction", new Object[] {"command", text});
  }
}
