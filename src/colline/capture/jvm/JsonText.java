package colline;

/** Writes JSON strings. Written by hand because it runs once per name and literal of every plan. */
public class JsonText {
  public static String truncate(String text, int maxChars) {
    return text == null || text.length() <= maxChars ? text : text.substring(0, maxChars) + "…";
  }

  /** Appends a Scala collection or a Java array as a JSON array of strings. */
  public static void appendStrings(StringBuilder b, Object values) {
    b.append('[');
    if (values instanceof scala.collection.Iterable) {
      scala.collection.Iterator it = ((scala.collection.Iterable) values).iterator();
      boolean first = true;
      while (it.hasNext()) { if (!first) b.append(','); first = false; append(b, String.valueOf(it.next())); }
    }
    String[] array = values instanceof String[] ? (String[]) values : new String[0];
    for (int i = 0; i < array.length; i++) { if (i > 0) b.append(','); append(b, array[i]); }
    b.append(']');
  }

  /** Appends a JSON string, or null. Unpaired surrogates are escaped, so the result is always valid UTF-8. */
  public static void append(StringBuilder b, String text) {
    if (text == null) { b.append("null"); return; }
    b.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') b.append('\\').append(c);
      else if (c < 32 || (c >= 0xd800 && c <= 0xdfff)) {
        b.append("\\u");
        String hex = Integer.toHexString(c);
        for (int j = hex.length(); j < 4; j++) b.append('0');
        b.append(hex);
      }
      else b.append(c);
    }
    b.append('"');
  }
}
