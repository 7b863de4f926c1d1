package colline;

import org.apache.spark.sql.types.DataType;

/** The hidden column `_metadata` of file sources. */
public class StubMetadataColumn implements org.apache.spark.sql.connector.catalog.MetadataColumn {
  private static final String TYPE = "file_path string, file_name string, file_size bigint, file_block_start bigint, "
      + "file_block_length bigint, file_modification_time timestamp, row_index bigint";

  public String name() { return "_metadata"; }
  public DataType dataType() { return DataType.fromDDL(TYPE); }
}
