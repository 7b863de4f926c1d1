package colline;

import java.util.HashMap;
import java.util.Iterator;

/** What Spark counted while it ran a query. */
public class Metrics {
  /** What Spark counted near the root of the executed plan: rows, bytes, files written. */
  public static void metrics(StringBuilder b, org.apache.spark.sql.execution.QueryExecution qe) {
    try {
      HashMap found = new HashMap();
      collect(qe.executedPlan(), found, 0);
      b.append(",\"metrics\":{");
      boolean first = true;
      Iterator it = found.keySet().iterator();
      while (it.hasNext()) {
        Object key = it.next();
        if (!first) b.append(',');
        first = false;
        JsonText.string(b, (String) key); b.append(':').append(found.get(key));
      }
      b.append('}');
    } catch (Throwable x) {
      // a plan that failed before it was made has no metrics
    }
  }

  private static void collect(Object plan, HashMap found, int depth) {
    if (plan == null || depth > 6) return;
    Object command = Reflect.call(plan, "commandPhysicalPlan");
    if (command != null) collect(command, found, depth + 1);
    Object executed = Reflect.call(plan, "executedPlan");
    if (executed != null && executed != plan && plan.getClass().getSimpleName().startsWith("Adaptive")) collect(executed, found, depth + 1);
    scala.collection.Iterator it = ((scala.collection.Map) Reflect.call(plan, "metrics")).iterator();
    while (it.hasNext()) {
      scala.Tuple2 pair = (scala.Tuple2) it.next();
      String key = String.valueOf(pair._1());
      if (!key.startsWith("num") || found.containsKey(key)) continue;
      Object count = Reflect.call(pair._2(), "value");
      if (count instanceof Number && ((Number) count).longValue() >= 0) found.put(key, count);
    }
    if (isWrite(plan)) return;
    scala.collection.Iterator children = ((org.apache.spark.sql.catalyst.trees.TreeNode) plan).children().iterator();
    if (children.hasNext()) collect(children.next(), found, depth + 1);
  }

  private static boolean isWrite(Object plan) {
    String name = plan.getClass().getSimpleName();
    return name.indexOf("Command") >= 0 || name.endsWith("DataExec") || name.startsWith("Overwrite") || name.endsWith("AsSelectExec");
  }
}
