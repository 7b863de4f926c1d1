package colline;

import java.lang.reflect.Method;
import org.apache.spark.sql.SparkSession;

/** Reads what is known about a Delta table that a plan names by its path only. Delta caches it: the statement itself needs it too. */
public class DeltaTables {
  /** The snapshot of the Delta table that a command writes, or null. */
  public static Object snapshot(Object command, Object delta) {
    scala.Option path = ((scala.collection.immutable.Map) Reflect.call(command, "options")).get("path");
    return path.isEmpty() ? null : snapshotAt(String.valueOf(path.get()), delta);
  }

  /** The snapshot of the Delta table at a path; null if the path has no table. `delta` is any object of Delta's classes. */
  public static Object snapshotAt(String path, Object delta) {
    try {
      scala.Option session = SparkSession.getDefaultSession();
      if (session.isEmpty()) return null;
      Class log = Class.forName("org.apache.spark.sql.delta.DeltaLog", true, delta.getClass().getClassLoader());
      Method[] methods = log.getMethods();
      for (int i = 0; i < methods.length; i++) {
        Class[] types = methods[i].getParameterTypes();
        if (!methods[i].getName().equals("forTable") || types.length != 2 || types[1] != String.class) continue;
        Object snapshot = Reflect.call(methods[i].invoke(null, new Object[] {session.get(), path}), "unsafeVolatileSnapshot");
        Object version = Reflect.call(snapshot, "version");
        return version instanceof Number && ((Number) version).longValue() >= 0 ? snapshot : null;
      }
    } catch (Throwable x) {
      // not a Delta table, or another version of Delta: the names stay those of the query
    }
    return null;
  }

  /** When a Delta table was created, in milliseconds; null if unknown. */
  public static Long creationTime(Object snapshot) {
    Object time = Reflect.unwrap(Reflect.call(Reflect.call(snapshot, "metadata"), "createdTime"));
    return time instanceof Number ? Long.valueOf(((Number) time).longValue()) : null;
  }
}
