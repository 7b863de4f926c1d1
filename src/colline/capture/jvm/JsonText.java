package colline;

/** JSON strings, written by hand for speed. */
public class JsonText {
  public static String cut(String s, int most) { return s == null || s.length() <= most ? s : s.substring(0, most) + "…"; }

  public static void strings(StringBuilder b, Object o) {
    b.append('[');
    if (o instanceof scala.collection.Iterable) {
      scala.collection.Iterator it = ((scala.collection.Iterable) o).iterator();
      boolean first = true;
      while (it.hasNext()) { if (!first) b.append(','); first = false; string(b, String.valueOf(it.next())); }
    }
    String[] each = o instanceof String[] ? (String[]) o : new String[0];
    for (int i = 0; i < each.length; i++) { if (i > 0) b.append(','); string(b, each[i]); }
    b.append(']');
  }

  public static void string(StringBuilder b, String s) {
    if (s == null) { b.append("null"); return; }
    b.append('"');
    for (int i = 0; i < s.length(); i++) {
      char c = s.charAt(i);
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
