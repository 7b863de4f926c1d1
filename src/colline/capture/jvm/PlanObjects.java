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
    else if (name.endsWith("DeltaLog")) record(b, "DeltaLog", new Object[] {"path", Reflect.call(o, "dataPath")});
    else JsonText.append(b, "<" + name + ">");
  }

  protected void tableIdentifier(StringBuilder b, TableIdentifier id) {
    record(b, "TableIdentifier", new Object[] {"identifier", nameParts(id), "location", location(id)});
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
    if (name.endsWith("DeltaTableV2")) {
      path = Reflect.call(t, "path");
      provider = "delta";
      catalog = Reflect.call(t, "catalogTable");
    } else if (name.indexOf("iceberg") >= 0) {
      Object table = Reflect.call(t, "table");
      path = Reflect.call(table, "location");
      provider = "iceberg";
      version = Reflect.call(Reflect.call(table, "currentSnapshot"), "snapshotId");
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
    // a V1 sink of a stream throws when its name is read; its toString() describes it
    Object tableName = Reflect.call(t, "name");
    record(b, "Table", new Object[] {"name", tableName, "class", name, "provider", provider, "path", path, "catalog_table", catalog,
        "options", options, "columns", columnNames(t), "generated", generatedColumns(t), "version", version,
        "description", tableName == null ? String.valueOf(t) : null});
  }

  private static Object columnNames(Table t) {
    Object schema = Reflect.call(t, "schema");
    return schema instanceof StructType ? ((StructType) schema).fieldNames() : null;
  }

  /** The generated columns of a Delta table: for each its name, its expression, and the columns in the expression. */
  private static Object generatedColumns(Table t) {
    Object snapshot = t.getClass().getName().endsWith("DeltaTableV2") ? Reflect.call(t, "initialSnapshot") : null;
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
