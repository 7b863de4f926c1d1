package colline;

/** A message to Python, compressed and split into chunks that py4j sends without delay. */
public class Chunks {
  /** py4j flushes its buffer at 8 KB and then waits for a delayed ACK (44 ms), so every chunk stays below that size. */
  public static final int MAX_CHUNK_CHARS = 7900;

  private final String packed;
  private int position = 0;

  public Chunks(String text) { this.packed = pack(text); }

  /** The next chunk. Its first character is '+' if more chunks follow, '.' if it is the last. */
  public String nextChunk() {
    int end = Math.min(this.packed.length(), this.position + MAX_CHUNK_CHARS);
    String chunk = (end < this.packed.length() ? "+" : ".") + this.packed.substring(this.position, end);
    this.position = end;
    return chunk;
  }

  /** Deflates the text and encodes it as base64; most plans then fit in one chunk. */
  private static String pack(String text) {
    try {
      java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream(text.length() / 4 + 64);
      java.util.zip.DeflaterOutputStream out = new java.util.zip.DeflaterOutputStream(bytes, new java.util.zip.Deflater(1));
      out.write(text.getBytes("UTF-8"));
      out.close();
      return java.util.Base64.getEncoder().encodeToString(bytes.toByteArray());
    } catch (java.io.IOException x) {
      throw new RuntimeException(x);
    }
  }
}
