package colline;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** A file system of any scheme without files: paths can be completed, and nothing can be read or written. */
public class StubFileSystem extends FileSystem {
  private URI uri;
  private Path folder;

  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    this.uri = URI.create(name.getScheme() + (name.getAuthority() == null ? ":///" : "://" + name.getAuthority()));
    this.folder = new Path(conf.get("colline.working.directory", "/"));
  }

  public URI getUri() { return this.uri; }
  public Path getWorkingDirectory() { return this.folder; }
  public void setWorkingDirectory(Path path) { this.folder = path; }
  protected void checkPath(Path path) { }

  public boolean mkdirs(Path path, org.apache.hadoop.fs.permission.FsPermission permission) { return true; }
  public boolean delete(Path path, boolean recursive) { return true; }
  public boolean rename(Path from, Path to) throws IOException { throw accessError(from); }
  public FileStatus[] listStatus(Path path) throws IOException { throw new FileNotFoundException(String.valueOf(path)); }
  public FileStatus getFileStatus(Path path) throws IOException { throw new FileNotFoundException(String.valueOf(path)); }
  public org.apache.hadoop.fs.FSDataInputStream open(Path path, int size) throws IOException { throw accessError(path); }

  public org.apache.hadoop.fs.FSDataOutputStream create(Path path, org.apache.hadoop.fs.permission.FsPermission permission, boolean overwrite,
      int size, short replication, long block, org.apache.hadoop.util.Progressable progress) throws IOException { throw accessError(path); }

  public org.apache.hadoop.fs.FSDataOutputStream append(Path path, int size, org.apache.hadoop.util.Progressable progress) throws IOException {
    throw accessError(path);
  }

  private static IOException accessError(Path path) { return new IOException("the resolver does not access files: " + path); }
}
