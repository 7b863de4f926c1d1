package colline;

import java.util.HashMap;
import java.util.Iterator;

/** Reads the SQL metrics of an executed query: rows, bytes and files written. */
public class Metrics {
  private static final int MAX_DEPTH = 6;

  /** Appends `"metrics": {…}` with the metrics of the operators near the root of the executed plan. */
  public static void append(StringBuilder b, org.apache.spark.sql.execution.QueryExecution query) {
    try {
      HashMap metrics = new HashMap();
      collect(query.executedPlan(), metrics, 0);
      b.append(",\"metrics\":{");
      boolean first = true;
      Iterator it = metrics.keySet().iterator();
      while (it.hasNext()) {
        Object key = it.next();
        if (!first) b.append(',');
        first = false;
        JsonText.append(b, (String) key); b.append(':').append(metrics.get(key));
      }
      b.append('}');
    } catch (Throwable x) {
      // a query that failed before planning has no executed plan
    }
  }

  /** Collects metrics from the root down to the write; of metrics with the same name the upper one is kept. */
  private static void collect(Object plan, HashMap metrics, int depth) {
    if (plan == null || depth > MAX_DEPTH) return;
    Object command = Reflect.call(plan, "commandPhysicalPlan");
    if (command != null) collect(command, metrics, depth + 1);
    Object executed = Reflect.call(plan, "executedPlan");
    boolean isAdaptive = plan.getClass().getSimpleName().startsWith("Adaptive");
    if (isAdaptive && executed != null && executed != plan) collect(executed, metrics, depth + 1);
    scala.collection.Iterator it = ((scala.collection.Map) Reflect.call(plan, "metrics")).iterator();
    while (it.hasNext()) {
      scala.Tuple2 pair = (scala.Tuple2) it.next();
      String key = String.valueOf(pair._1());
      if (!key.startsWith("num") || metrics.containsKey(key)) continue;
      Object count = Reflect.call(pair._2(), "value");
      if (count instanceof Number && ((Number) count).longValue() >= 0) metrics.put(key, count);
    }
    if (isWrite(plan)) return;
    scala.collection.Iterator children = ((org.apache.spark.sql.catalyst.trees.TreeNode) plan).children().iterator();
    if (children.hasNext()) collect(children.next(), metrics, depth + 1);
  }

  private static boolean isWrite(Object plan) {
    String name = plan.getClass().getSimpleName();
    return name.indexOf("Command") >= 0 || name.endsWith("DataExec") || name.startsWith("Overwrite") || name.endsWith("AsSelectExec");
  }
}
