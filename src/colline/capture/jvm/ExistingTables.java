package colline;

import java.net.URI;
import java.util.Arrays;
import java.util.HashSet;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.TableCatalog;

/**
 * Finds statements that write nothing because their target exists: CREATE … IF NOT EXISTS, and writes with the mode "ignore".
 *
 * The plan is read while the statement runs, so the target may be its own. It existed before if it is older than the execution.
 */
public class ExistingTables {
  private static final HashSet COMMANDS = new HashSet(Arrays.asList(new String[] {"CreateDataSourceTableAsSelectCommand", "CreateHiveTableAsSelectCommand",
      "SaveAsV1TableCommand", "CreateTableAsSelect", "CreateTable", "CreateDataSourceTableCommand", "CreateTableCommand", "CreateTableLikeCommand",
      "CreateViewCommand", "InsertIntoHadoopFsRelationCommand", "SaveIntoDataSourceCommand", "CreateDeltaTableCommand"}));

  /** Whether a command is of a kind that may write nothing. */
  public static boolean maySkip(Object command) { return COMMANDS.contains(command.getClass().getSimpleName()); }

  /** Whether a command keeps a target that existed when its execution started. */
  public static boolean isKept(Object command, long startTime) {
    try {
      Long created = skipsExisting(command) ? creationTime(command) : null;
      if (created == null) return false;
      // Hive keeps whole seconds
      long started = created.longValue() % 1000L == 0L ? startTime - startTime % 1000L : startTime;
      Long planned = plannedTime(command);
      return created.longValue() < started && !created.equals(planned);
    } catch (Throwable x) {
      return false; // unknown: the write is reported
    }
  }

  private static boolean skipsExisting(Object command) {
    String[] flags = {"ignoreIfExists", "ifNotExists", "allowExisting"};
    for (int i = 0; i < flags.length; i++) if (Boolean.TRUE.equals(Reflect.call(command, flags[i]))) return true;
    return "Ignore".equals(String.valueOf(Reflect.call(command, "mode")));
  }

  /** The time in the description of the table that the command would create: Spark takes it before the execution starts. */
  private static Long plannedTime(Object command) {
    Object table = Reflect.call(command, "table");
    if (table == null) table = Reflect.call(command, "tableDesc");
    return table instanceof CatalogTable ? Long.valueOf(((CatalogTable) table).createTime()) : null;
  }

  private static Long creationTime(Object command) throws Exception {
    if (command.getClass().getSimpleName().equals("SaveIntoDataSourceCommand")) {
      return DeltaTables.creationTime(DeltaTables.snapshot(command, Reflect.call(command, "dataSource")));
    }
    Object path = Reflect.call(command, "outputPath");
    if (path instanceof Path) return modificationTime((Path) path);
    Object identifier = Reflect.call(command, "targetTable");
    if (identifier == null && command.getClass().getSimpleName().equals("CreateViewCommand")) identifier = Reflect.call(command, "name");
    Object table = Reflect.call(command, "table");
    if (table == null) table = Reflect.call(command, "tableDesc");
    if (table instanceof CatalogTable) identifier = ((CatalogTable) table).identifier();
    if (identifier instanceof TableIdentifier) return creationTime((TableIdentifier) identifier);
    Object resolved = Reflect.call(command, "name");
    Object catalog = Reflect.call(resolved, "catalog");
    return catalog instanceof TableCatalog ? creationTime((TableCatalog) catalog, (Identifier) Reflect.call(resolved, "identifier")) : null;
  }

  private static Long creationTime(TableIdentifier id) throws Exception {
    SessionCatalog catalog = (SessionCatalog) Reflect.call(Reflect.call(SparkSession.getDefaultSession().get(), "sessionState"), "catalog");
    return Long.valueOf(catalog.getTableMetadata(id).createTime());
  }

  private static Long creationTime(TableCatalog catalog, Identifier id) throws Exception {
    Object table = catalog.loadTable(id);
    Object definition = Reflect.unwrap(Reflect.call(table, "catalogTable"));
    if (definition == null) definition = Reflect.call(table, "v1Table");
    if (definition instanceof CatalogTable) return Long.valueOf(((CatalogTable) definition).createTime());
    Object snapshot = Reflect.call(table, "initialSnapshot"); // of a Delta table that is named by its path
    if (snapshot != null) return DeltaTables.creationTime(snapshot);
    return icebergCreationTime(Reflect.call(table, "table"));
  }

  /** The time of an Iceberg table's first metadata file that is still known. */
  private static Long icebergCreationTime(Object table) {
    Object metadata = Reflect.call(Reflect.call(table, "operations"), "current");
    Object earlier = Reflect.call(metadata, "previousFiles");
    boolean hasEarlier = earlier instanceof java.util.List && !((java.util.List) earlier).isEmpty();
    Object time = hasEarlier ? Reflect.call(((java.util.List) earlier).get(0), "timestampMillis") : Reflect.call(metadata, "lastUpdatedMillis");
    return time instanceof Number ? Long.valueOf(((Number) time).longValue()) : null;
  }

  private static Long modificationTime(Path path) throws Exception {
    SparkSession session = (SparkSession) SparkSession.getDefaultSession().get();
    FileStatus status = path.getFileSystem(session.sparkContext().hadoopConfiguration()).getFileStatus(path);
    return Long.valueOf(status.getModificationTime());
  }
}
