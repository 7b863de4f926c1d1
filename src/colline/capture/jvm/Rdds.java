package colline;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;

/** RDDs that were made from queries. A job on one of them reads what its query reads, and Spark SQL does not tell of it. */
public class Rdds {
  private static final int MOST = 200;
  private final HashMap queries = new HashMap();
  private final ArrayDeque order = new ArrayDeque();
  private final HashSet running = new HashSet();

  public synchronized void note(int rdd, Object query) {
    if (this.queries.put(Integer.valueOf(rdd), query) == null) this.order.addLast(Integer.valueOf(rdd));
    if (this.order.size() > MOST) this.queries.remove(this.order.removeFirst());
  }

  /** The query behind a job that is no execution of Spark SQL, noted as running; null when there is none. */
  public synchronized Object begin(org.apache.spark.scheduler.SparkListenerJobStart e) {
    if (this.queries.isEmpty() || property(e, "spark.sql.execution.id") != null) return null;
    scala.collection.Iterator stages = e.stageInfos().iterator();
    while (stages.hasNext()) {
      scala.collection.Iterator rdds = ((org.apache.spark.scheduler.StageInfo) stages.next()).rddInfos().iterator();
      while (rdds.hasNext()) {
        Object found = this.queries.get(Integer.valueOf(((org.apache.spark.storage.RDDInfo) rdds.next()).id()));
        if (found == null) continue;
        this.running.add(Integer.valueOf(e.jobId()));
        return found;
      }
    }
    return null;
  }

  public synchronized boolean end(int job) { return this.running.remove(Integer.valueOf(job)); }

  /** The job's tags; Spark keeps them in one property, with commas. */
  public static String[] tags(org.apache.spark.scheduler.SparkListenerJobStart e) {
    String found = property(e, "spark.job.tags");
    return found == null ? null : found.split(",");
  }

  /** A job's id among those of executions, which count from 0. */
  public static Long id(int job) { return Long.valueOf(-2L - job); }

  private static String property(org.apache.spark.scheduler.SparkListenerJobStart e, String name) {
    return e.properties() == null ? null : e.properties().getProperty(name);
  }
}
