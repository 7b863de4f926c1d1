package colline;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import org.apache.spark.scheduler.SparkListenerJobStart;

/**
 * Finds jobs that run on an RDD made from a DataFrame (`df.rdd`).
 *
 * Such a job reads the inputs of the DataFrame's query, but Spark SQL sends no event for it.
 */
public class Rdds {
  private static final int MAX_RDDS = 200;
  private final HashMap queries = new HashMap();
  private final ArrayDeque order = new ArrayDeque();
  private final HashSet running = new HashSet();

  /** Remembers the query that an RDD was made from. */
  public synchronized void add(int rdd, Object query) {
    if (this.queries.put(Integer.valueOf(rdd), query) == null) this.order.addLast(Integer.valueOf(rdd));
    if (this.order.size() > MAX_RDDS) this.queries.remove(this.order.removeFirst());
  }

  /** The query whose RDD this job reads, and marks the job as running. Null for a job of Spark SQL or of other RDDs. */
  public synchronized Object startJob(SparkListenerJobStart e) {
    if (this.queries.isEmpty() || property(e, "spark.sql.execution.id") != null) return null;
    scala.collection.Iterator stages = e.stageInfos().iterator();
    while (stages.hasNext()) {
      scala.collection.Iterator rdds = ((org.apache.spark.scheduler.StageInfo) stages.next()).rddInfos().iterator();
      while (rdds.hasNext()) {
        Object query = this.queries.get(Integer.valueOf(((org.apache.spark.storage.RDDInfo) rdds.next()).id()));
        if (query == null) continue;
        this.running.add(Integer.valueOf(e.jobId()));
        return query;
      }
    }
    return null;
  }

  /** Whether the job that ended was one that `startJob` marked as running. */
  public synchronized boolean endJob(int job) { return this.running.remove(Integer.valueOf(job)); }

  /** The job's tags. Spark keeps them in one property, separated by commas. */
  public static String[] tags(SparkListenerJobStart e) {
    String tags = property(e, "spark.job.tags");
    return tags == null ? null : tags.split(",");
  }

  /** An id for a job's messages that no SQL execution has: execution ids start at 0, these are negative. */
  public static long messageId(int job) { return -2L - job; }

  private static String property(SparkListenerJobStart e, String name) {
    return e.properties() == null ? null : e.properties().getProperty(name);
  }
}
