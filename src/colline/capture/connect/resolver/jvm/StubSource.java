package colline;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A data source that takes the place of every format: its table has the format, paths and options of the original. */
public class StubSource implements TableProvider {
  public static final String FORMAT = "colline.format";
  public static final String PATHS = "colline.paths";

  public StructType inferSchema(CaseInsensitiveStringMap options) { return new StructType(); }
  public boolean supportsExternalMetadata() { return true; }

  public Table getTable(StructType schema, org.apache.spark.sql.connector.expressions.Transform[] partitions, Map properties) {
    CaseInsensitiveStringMap all = new CaseInsensitiveStringMap(properties);
    HashMap options = new HashMap(all.asCaseSensitiveMap());
    options.remove(FORMAT);
    options.remove(PATHS);
    String paths = all.get(PATHS);
    Object[] split = paths == null || paths.length() == 0 ? null : (Object[]) paths.split("\n");
    return new StubTable(all.get(FORMAT), schema.json(), all.get(FORMAT), split, options, new Object[0]);
  }
}
