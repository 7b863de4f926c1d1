package colline;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;

/** Calls methods and reads fields by name, because they differ between versions of Spark and Scala. */
public class Reflect {
  private static final HashMap METHODS = new HashMap();
  private static final HashMap FIELD_NAMES = new HashMap();

  /** The result of a method without arguments; null if the class has no such method or the call fails. */
  public static Object call(Object target, String name) {
    if (target == null) return null;
    try {
      String key = target.getClass().getName() + "#" + name + "@" + System.identityHashCode(target.getClass().getClassLoader());
      Method method;
      synchronized (METHODS) { method = (Method) METHODS.get(key); }
      if (method == null) {
        method = target.getClass().getMethod(name, new Class[0]);
        method.setAccessible(true);
        synchronized (METHODS) { METHODS.put(key, method); }
      }
      return method.invoke(target, new Object[0]);
    } catch (Throwable x) {
      return null;
    }
  }

  /** The value of a private field, of the class or one it extends; null if there is no such field. */
  public static Object field(Object target, String name) {
    for (Class c = target == null ? null : target.getClass(); c != null; c = c.getSuperclass()) {
      try {
        Field field = c.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(target);
      } catch (NoSuchFieldException absent) {
        // look in the class that it extends
      } catch (Throwable x) {
        return null;
      }
    }
    return null;
  }

  /** The names of a case class's arguments. Scala 2.13 has a method for it; in 2.12 they are found among the fields. */
  public static String[] fieldNames(Object o, int arity) {
    String key = o.getClass().getName() + "/" + arity;
    synchronized (FIELD_NAMES) { if (FIELD_NAMES.containsKey(key)) return (String[]) FIELD_NAMES.get(key); }
    String[] names = new String[arity];
    Object elementNames = call(o, "productElementNames");
    if (elementNames instanceof scala.collection.Iterator) {
      for (int i = 0; i < arity; i++) names[i] = String.valueOf(((scala.collection.Iterator) elementNames).next());
    } else {
      Class c = o.getClass();
      while (c != null && declaredFields(c).size() < arity) c = c.getSuperclass();
      matchFieldNames(names, c == null ? new ArrayList() : declaredFields(c), (scala.Product) o);
    }
    synchronized (FIELD_NAMES) { FIELD_NAMES.put(key, names); }
    return names;
  }

  /** Scala 2.12 declares lazy values between the arguments' fields, so each argument is matched to the next field with its value. */
  private static void matchFieldNames(String[] names, ArrayList fields, scala.Product p) {
    int next = 0;
    for (int i = 0; i < names.length; i++) {
      names[i] = "_" + i;
      for (int j = next; j < fields.size(); j++) {
        if (!hasValue((Field) fields.get(j), p, p.productElement(i))) continue;
        names[i] = ((Field) fields.get(j)).getName();
        next = j + 1;
        break;
      }
    }
  }

  /** The value in an Option, or null if it is empty. An object that is not an Option is returned as it is. */
  public static Object unwrap(Object o) {
    if (!(o instanceof scala.Option)) return o;
    return ((scala.Option) o).isDefined() ? ((scala.Option) o).get() : null;
  }

  private static boolean hasValue(Field field, Object owner, Object value) {
    try {
      field.setAccessible(true);
      Object content = field.get(owner);
      boolean isComparable = value instanceof Boolean || value instanceof Number || value instanceof String;
      return content == value || (content != null && isComparable && content.equals(value));
    } catch (Exception x) {
      return false;
    }
  }

  private static ArrayList declaredFields(Class c) {
    Field[] all = c.getDeclaredFields();
    ArrayList fields = new ArrayList();
    for (int i = 0; i < all.length; i++) {
      if (!java.lang.reflect.Modifier.isStatic(all[i].getModifiers()) && all[i].getName().indexOf('$') < 0) fields.add(all[i]);
    }
    return fields;
  }
}
