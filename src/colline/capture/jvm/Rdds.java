package colline;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.regex.Pattern;
import org.apache.spark.rdd.RDDOperationScope;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.storage.RDDInfo;

/**
 * Finds jobs that run on an RDD made from a DataFrame (`df.rdd`).
 *
 * Such a job reads the inputs of the DataFrame's query, but Spark SQL sends no event for it.
 */
public class Rdds {
  private static final int MAX_RDDS = 200;
  /** The local property in which Python passes the path that an action writes. */
  private static final String OUTPUT_PROPERTY = "colline.rdd.output";
  private static final HashSet FILE_SCOPES = new HashSet(Arrays.asList(new String[] {"textFile", "wholeTextFiles", "binaryFiles", "binaryRecords",
      "hadoopRDD", "hadoopFile", "newAPIHadoopFile", "newAPIHadoopRDD", "sequenceFile", "objectFile"}));

  /** What a job on RDDs reads and writes. */
  public static class Job {
    public final ArrayList queries = new ArrayList();
    public final ArrayList files = new ArrayList();
    public String output = null;
  }

  /** In the stack of a query or job by which Spark ML saves or loads a model: its files contain no table. */
  private static final Pattern MODEL_FILES =
      Pattern.compile("org\\.apache\\.spark\\.ml\\.util\\.(MLWriter|DefaultParamsWriter|DefaultParamsReader|ReadWriteUtils)");

  private final HashMap queries = new HashMap();
  private final ArrayDeque order = new ArrayDeque();
  private final HashSet running = new HashSet();

  /** Whether the stack of a caller belongs to Spark ML, which saves or loads a model. */
  public static boolean isModelFile(String stack) { return MODEL_FILES.matcher(stack).find(); }

  /** Remembers the query that an RDD was made from. */
  public synchronized void add(int rdd, Object query) {
    if (this.queries.put(Integer.valueOf(rdd), query) == null) this.order.addLast(Integer.valueOf(rdd));
    if (this.order.size() > MAX_RDDS) this.queries.remove(this.order.removeFirst());
  }

  /**
   * What a job reads and writes, if it reads RDDs made from queries or writes files: `queries`, the paths of files that it reads as RDDs,
   * and the path it writes. Null for a job of Spark SQL or of other RDDs. Marks the job as running.
   */
  public synchronized Job startJob(SparkListenerJobStart e) {
    String output = property(e, OUTPUT_PROPERTY);
    if ((this.queries.isEmpty() && output == null) || property(e, "spark.sql.execution.id") != null) return null;
    HashMap infos = new HashMap();
    HashSet parents = new HashSet();
    boolean isWriter = false;
    scala.collection.Iterator stages = e.stageInfos().iterator();
    while (stages.hasNext()) {
      StageInfo stage = (StageInfo) stages.next();
      if (isModelFile(stage.details())) return null;
      isWriter = isWriter || stage.details().indexOf("SparkHadoopWriter") >= 0;
      scala.collection.Iterator rdds = stage.rddInfos().iterator();
      while (rdds.hasNext()) {
        RDDInfo info = (RDDInfo) rdds.next();
        infos.put(Integer.valueOf(info.id()), info);
        scala.collection.Iterator ids = info.parentIds().iterator();
        while (ids.hasNext()) parents.add(ids.next());
      }
    }
    if (output != null && !isWriter) return null; // PySpark reads a row to choose a converter
    Job job = new Job();
    job.output = output;
    ArrayList stack = new ArrayList(infos.keySet());
    stack.removeAll(parents);
    addInputs(job, infos, stack);
    if (job.queries.isEmpty() && output == null) return null;
    this.running.add(Integer.valueOf(e.jobId()));
    return job;
  }

  /** Adds the queries and files at the start of these RDDs. The RDDs below a query's RDD are part of that query. */
  private void addInputs(Job job, HashMap infos, ArrayList stack) {
    HashSet seen = new HashSet();
    HashMap names = new HashMap(); // of the RDD that reads from another: `wholeTextFiles` names only that one
    while (!stack.isEmpty()) {
      Object id = stack.remove(stack.size() - 1);
      RDDInfo info = (RDDInfo) infos.get(id);
      if (info == null || !seen.add(id)) continue;
      Object query = this.queries.get(id);
      if (query != null) { if (!job.queries.contains(query)) job.queries.add(query); continue; }
      boolean readsFiles = info.scope().isDefined() && FILE_SCOPES.contains(((RDDOperationScope) info.scope().get()).name());
      boolean isNamedAbove = readsFiles && ((RDDOperationScope) info.scope().get()).name().equals("wholeTextFiles");
      String path = isNamedAbove ? (String) names.get(id) : info.name();
      if (readsFiles && info.parentIds().isEmpty() && path != null) job.files.add(path);
      scala.collection.Iterator ids = info.parentIds().iterator();
      while (ids.hasNext()) {
        Object parent = ids.next();
        names.put(parent, info.name());
        stack.add(parent);
      }
    }
  }

  /** Whether the job that ended was one that `startJob` marked as running. */
  public synchronized boolean endJob(int job) { return this.running.remove(Integer.valueOf(job)); }

  /** Whether an RDD of this class reads files: its name is their path. */
  public static boolean readsFiles(String className) {
    return className.equals("HadoopRDD") || className.equals("NewHadoopRDD") || className.equals("BinaryFileRDD") || className.equals("WholeTextFileRDD");
  }

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
