package colline;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;

/** What a class of another version of Spark or Scala has, asked by name. */
public class Reflect {
  private static final HashMap METHODS = new HashMap();

  /** The value of a method without arguments, or null where there is none or it fails. */
  public static Object call(Object target, String name) {
    if (target == null) return null;
    try {
      String key = target.getClass().getName() + "#" + name + "@" + System.identityHashCode(target.getClass().getClassLoader());
      Method m;
      synchronized (METHODS) { m = (Method) METHODS.get(key); }
      if (m == null) {
        m = target.getClass().getMethod(name, new Class[0]);
        m.setAccessible(true);
        synchronized (METHODS) { METHODS.put(key, m); }
      }
      return m.invoke(target, new Object[0]);
    } catch (Throwable x) {
      return null;
    }
  }

  private static final HashMap FIELDS = new HashMap();

  /** What a case class calls its arguments: Scala 2.13 says it; in 2.12 they are the first fields declared. */
  public static String[] fields(Object o, int arity) {
    String key = o.getClass().getName() + "/" + arity;
    synchronized (FIELDS) { if (FIELDS.containsKey(key)) return (String[]) FIELDS.get(key); }
    String[] names = new String[arity];
    Object said = call(o, "productElementNames");
    if (said instanceof scala.collection.Iterator) {
      for (int i = 0; i < arity; i++) names[i] = String.valueOf(((scala.collection.Iterator) said).next());
    } else {
      Class c = o.getClass();
      while (c != null && declared(c).size() < arity) c = c.getSuperclass();
      matched(names, c == null ? new ArrayList() : declared(c), (scala.Product) o);
    }
    synchronized (FIELDS) { FIELDS.put(key, names); }
    return names;
  }

  /** In 2.12 lazy values stand among the arguments' fields, so each argument is the next field that holds its value. */
  private static void matched(String[] names, ArrayList fields, scala.Product p) {
    int next = 0;
    for (int i = 0; i < names.length; i++) {
      names[i] = "_" + i;
      for (int j = next; j < fields.size(); j++) {
        if (!holds((Field) fields.get(j), p, p.productElement(i))) continue;
        names[i] = ((Field) fields.get(j)).getName();
        next = j + 1;
        break;
      }
    }
  }

  /** What an Option holds, null when it is empty; anything else as it is. */
  public static Object held(Object o) {
    if (!(o instanceof scala.Option)) return o;
    return ((scala.Option) o).isDefined() ? ((scala.Option) o).get() : null;
  }

  private static boolean holds(Field field, Object owner, Object value) {
    try {
      field.setAccessible(true);
      Object held = field.get(owner);
      return held == value || (held != null && (value instanceof Boolean || value instanceof Number || value instanceof String) && held.equals(value));
    } catch (Exception x) {
      return false;
    }
  }

  private static ArrayList declared(Class c) {
    Field[] all = c.getDeclaredFields();
    ArrayList found = new ArrayList();
    for (int i = 0; i < all.length; i++) {
      if (!java.lang.reflect.Modifier.isStatic(all[i].getModifiers()) && all[i].getName().indexOf('$') < 0) found.add(all[i]);
    }
    return found;
  }
}
