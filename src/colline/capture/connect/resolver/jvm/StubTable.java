package colline;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.connector.catalog.SupportsMetadataColumns;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * A table of the server, as far as the analyzer needs it: name, columns and location. It can be neither read nor written.
 *
 * `paths`, `formatName` and `options` are what `PlanObjects` writes of a file table.
 */
public class StubTable implements SupportsRead, SupportsWrite, SupportsMetadataColumns {
  private final String name;
  private final StructType schema;
  private final String format;
  private final String[] paths;
  private final Map options;
  private final Transform[] partitions;

  /** `schema` is the JSON of a schema; `paths` may be null; `partitions` are names of columns. */
  public StubTable(String name, String schema, String format, Object[] paths, Map options, Object[] partitions) {
    this.name = name;
    this.schema = (StructType) DataType.fromJson(schema);
    this.format = format;
    this.paths = paths == null ? null : new String[paths.length];
    for (int i = 0; paths != null && i < paths.length; i++) this.paths[i] = (String) paths[i];
    this.options = new HashMap(options);
    this.partitions = new Transform[partitions.length];
    for (int i = 0; i < partitions.length; i++) this.partitions[i] = Expressions.identity((String) partitions[i]);
  }

  public String name() { return this.name; }
  public StructType schema() { return this.schema; }
  public String formatName() { return this.format; }
  public String[] paths() { return this.paths; }
  public Map options() { return this.options; }
  public Map properties() { return new HashMap(); }
  public Transform[] partitioning() { return this.partitions; }
  public MetadataColumn[] metadataColumns() { return new MetadataColumn[] {new StubMetadataColumn()}; }

  public Set capabilities() {
    HashSet all = new HashSet();
    all.add(TableCapability.BATCH_READ);
    all.add(TableCapability.BATCH_WRITE);
    all.add(TableCapability.MICRO_BATCH_READ);
    all.add(TableCapability.CONTINUOUS_READ);
    all.add(TableCapability.STREAMING_WRITE);
    all.add(TableCapability.TRUNCATE);
    all.add(TableCapability.OVERWRITE_BY_FILTER);
    all.add(TableCapability.OVERWRITE_DYNAMIC);
    return all;
  }

  public org.apache.spark.sql.connector.read.ScanBuilder newScanBuilder(org.apache.spark.sql.util.CaseInsensitiveStringMap o) {
    throw new UnsupportedOperationException("a stub table has no data");
  }

  public org.apache.spark.sql.connector.write.WriteBuilder newWriteBuilder(org.apache.spark.sql.connector.write.LogicalWriteInfo i) {
    throw new UnsupportedOperationException("a stub table has no data");
  }
}
