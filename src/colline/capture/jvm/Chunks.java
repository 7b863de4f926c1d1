package colline;

/** A text on its way to Python, in pieces. */
public class Chunks {
  /** py4j flushes its 8 KB buffer and then waits for a delayed ACK, so an answer is handed over in smaller pieces. */
  public static final int SIZE = 7900;

  private final String packed;
  private int position = 0;

  public Chunks(String text) { this.packed = pack(text); }

  /** The next piece; a '+' in front says that there are more. */
  public String more() {
    int end = Math.min(this.packed.length(), this.position + SIZE);
    String piece = (end < this.packed.length() ? "+" : ".") + this.packed.substring(this.position, end);
    this.position = end;
    return piece;
  }

  /** Deflated and in base 64: most plans then fit one answer of py4j. */
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
