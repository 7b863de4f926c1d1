package colline;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.sql.catalyst.catalog.DropTableEvent;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;

/**
 * A Spark listener that queues the start and end of every SQL execution and stream, with their plans as JSON.
 *
 * Janino compiles this source when colline attaches, so it uses only what Janino supports: no lambdas, no generics, explicit casts.
 * Spark's listener thread only queues references. A thread of this class writes the plans, which are immutable, as JSON.
 */
public class QueryListener extends org.apache.spark.scheduler.SparkListener implements Runnable {
  private static final int MAX_TEXT_CHARS = 20000;
  private static final int MAX_SQL_CHARS = 100000;
  private static final int MAX_FAILURE_CHARS = 500;
  private static final int MAX_OPEN_EXECUTIONS = 100000;
  private static final int MAX_STREAMS = 10000;
  private static final int MAX_CAUSES = 20;
  private static final int MAX_DROPPED_TABLES = 10000;
  private static final long POLL_MILLISECONDS = 500L;
  private static final long STACK_BYTES = 512L * 1024L * 1024L;
  private static final long NO_ID = -1L;
  private static final String CLOSED = new String("");

  /** An execution that runs inside DataFrameReader: Spark reads files to infer their schema, before the user's query. */
  private static final Pattern SCHEMA_INFERENCE = Pattern.compile("org\\.apache\\.spark\\.sql\\.[a-z.]*DataFrameReader\\.");

  /** A query of an Iceberg procedure (`CALL`), which reads the metadata of a table to maintain it. */
  private static final String ICEBERG_ACTIONS = "org.apache.iceberg.spark.actions.";

  /** SQL text that begins with CREATE or REPLACE, after blanks and comments. */
  private static final Pattern CREATE = Pattern.compile("(?is)(\\s++|/\\*.*?\\*/|--[^\n]*+\n)*+(create|replace)\\b.*");

  /** What the listener observed and has not written as JSON yet. */
  static class Observation {
    final String kind;
    final long id;
    final long time;
    /** When the execution started. */
    long startTime;
    /** At a start the description, at an end the error. */
    String text = null;
    /** The query with the plan. */
    Object query = null;
    Object tags = null;
    boolean needsPlan = true;
    boolean isCancelled = false;
    /** At an end, the tables that were dropped since the start. */
    ArrayList dropped = null;
    /** The execution that a nested one runs in. */
    long rootId = NO_ID;
    String streamId = null;
    String streamRunId = null;

    Observation(String kind, long id, long time) { this.kind = kind; this.id = id; this.time = time; this.startTime = time; }
  }

  private final LinkedBlockingQueue observations;
  private final LinkedBlockingQueue messages;
  /** The ids of executions whose plan is sent with their start, with the time of the start. */
  private final HashMap openWithPlan = new HashMap();
  /** The ids of executions whose query was unknown when they started, with the time of their start. */
  private final HashMap openWithoutPlan = new HashMap();
  private final HashSet batches = new HashSet();
  /** Executions around a command that runs in an execution of its own, as Delta's table builder does. */
  private final HashSet wrappers = new HashSet();
  /** The tables of the session catalog that were dropped last, with the time. */
  private final LinkedHashMap droppedTables = new LinkedHashMap();
  /** Executions whose query Spark could not analyze: nothing ran. */
  private final HashSet unanalyzed = new HashSet();
  private final HashSet streamsWithPlan = new HashSet();
  private final Rdds rdds = new Rdds();
  private final int maxPlanChars;
  private volatile boolean closed = false;
  private Thread thread;
  private Chunks chunks = null;

  public final AtomicLong dropped = new AtomicLong();
  /** `accepted` minus `discarded` is the number of messages: the reader uses it to see whether it has read all of them. */
  public final AtomicLong accepted = new AtomicLong();
  public final AtomicLong discarded = new AtomicLong();
  public final AtomicLong seen = new AtomicLong();
  public final AtomicLong nested = new AtomicLong();
  public final AtomicLong failures = new AtomicLong();
  public final AtomicLong listenerNanos = new AtomicLong();
  public final AtomicLong plans = new AtomicLong();
  public final AtomicLong planNanos = new AtomicLong();

  public QueryListener(int capacity, int maxPlanChars) {
    this.observations = new LinkedBlockingQueue(capacity);
    this.messages = new LinkedBlockingQueue(capacity);
    this.maxPlanChars = maxPlanChars;
  }

  public void start() {
    this.thread = new Thread(null, this, "colline-listener", STACK_BYTES);
    this.thread.setDaemon(true);
    this.thread.start();
  }

  public void close() {
    this.closed = true;
    if (this.thread != null) this.thread.interrupt();
    this.messages.offer(CLOSED); // wakes a waiting reader
  }

  /** Remembers the query that an RDD was made from, so that a job on the RDD is reported as a read of the query's inputs. */
  public void addRdd(int rdd, Object query) { this.rdds.add(rdd, query); }

  // --- on Spark's listener thread ---------------------------------------------------------------------------------------

  public void onOtherEvent(SparkListenerEvent e) {
    if (this.closed) return;
    long began = System.nanoTime();
    try {
      if (e instanceof SparkListenerSQLExecutionStart) onExecutionStart((SparkListenerSQLExecutionStart) e);
      else if (e instanceof SparkListenerSQLExecutionEnd) onExecutionEnd((SparkListenerSQLExecutionEnd) e);
      else if (e.getClass().getName().startsWith("org.apache.spark.sql.streaming.StreamingQueryListener")) onStreamEvent(e);
      else if (e instanceof DropTableEvent) onDropTable((DropTableEvent) e);
      else return;
    } catch (Throwable x) {
      this.failures.incrementAndGet();
    }
    this.listenerNanos.addAndGet(System.nanoTime() - began);
  }

  public void onApplicationEnd(SparkListenerApplicationEnd e) {
    enqueue(new Observation("application_end", NO_ID, e.time()));
  }

  /** A job on an RDD made from a query (`df.rdd.foreach(…)`) is reported like an execution that only reads. */
  public void onJobStart(SparkListenerJobStart e) {
    if (this.closed) return;
    try {
      Rdds.Job job = this.rdds.startJob(e);
      if (job == null) return;
      Observation start = new Observation("start", Rdds.messageId(e.jobId()), e.time());
      start.query = job;
      start.tags = Rdds.tags(e);
      enqueue(start);
    } catch (Throwable x) {
      this.failures.incrementAndGet();
    }
  }

  public void onJobEnd(SparkListenerJobEnd e) {
    if (this.closed || !this.rdds.endJob(e.jobId())) return;
    Observation end = new Observation("end", Rdds.messageId(e.jobId()), e.time());
    Object error = call(e.jobResult(), "exception");
    if (error != null) end.text = String.valueOf(call(error, "getMessage"));
    end.isCancelled = isCancellation(error);
    enqueue(end);
  }

  /** Whether Spark cancelled the query: an error of the user may have the same text. */
  private static boolean isCancellation(Object error) {
    Object each = error;
    for (int i = 0; each instanceof Throwable && i < MAX_CAUSES; i++) {
      Object condition = call(each, "getErrorClass");
      if ("SPARK_JOB_CANCELLED".equals(condition) || "OPERATION_CANCELED".equals(condition)) return true;
      each = ((Throwable) each).getCause();
    }
    return false;
  }

  private void onExecutionStart(SparkListenerSQLExecutionStart e) {
    Long id = Long.valueOf(e.executionId());
    scala.Option root = e.rootExecutionId();
    boolean isNested = root.isDefined() && ((Number) root.get()).longValue() != e.executionId();
    if (isNested && !isWrapped(((Number) root.get()).longValue())) {
      onNestedStart(e, ((Number) root.get()).longValue());
      return;
    }
    if (isInternal(e.details())) {
      this.nested.incrementAndGet();
      return;
    }
    if (e.description() != null && e.description().indexOf("runId = ") >= 0) {
      if (this.batches.size() > MAX_STREAMS) this.batches.clear();
      this.batches.add(id);
    }
    this.seen.incrementAndGet();
    Observation start = new Observation("start", e.executionId(), e.time());
    start.text = e.description();
    start.query = SQLExecution.getQueryExecution(e.executionId());
    start.tags = call(e, "jobTags");
    boolean isQueued = enqueue(start);
    if (this.openWithPlan.size() + this.openWithoutPlan.size() > MAX_OPEN_EXECUTIONS) {
      this.openWithPlan.clear();
      this.openWithoutPlan.clear();
    }
    if (isQueued && start.query != null) this.openWithPlan.put(id, Long.valueOf(e.time()));
    else this.openWithoutPlan.put(id, Long.valueOf(e.time()));
  }

  /** Whether Spark or Iceberg started the execution for a purpose of its own; the details are the stack of the caller. */
  private static boolean isInternal(String details) {
    if (details == null) return false;
    return SCHEMA_INFERENCE.matcher(details).lookingAt() || details.indexOf(ICEBERG_ACTIONS) >= 0 || Rdds.isModelFile(details);
  }

  /** Whether the root only shows the rows of a command that now runs inside it; true once for each root. */
  private boolean isWrapped(long rootId) {
    Object query = SQLExecution.getQueryExecution(rootId);
    if (query == null || !showsCommandResult(query, ((QueryExecution) query).analyzed())) return false;
    if (this.wrappers.size() > MAX_OPEN_EXECUTIONS) this.wrappers.clear();
    return this.wrappers.add(Long.valueOf(rootId));
  }

  private void onDropTable(DropTableEvent e) {
    this.droppedTables.remove(e.database() + "." + e.name());
    this.droppedTables.put(e.database() + "." + e.name(), Long.valueOf(System.currentTimeMillis()));
    if (this.droppedTables.size() > MAX_DROPPED_TABLES) this.droppedTables.remove(this.droppedTables.keySet().iterator().next());
  }

  private ArrayList droppedSince(long time) {
    ArrayList names = new ArrayList();
    Iterator it = this.droppedTables.entrySet().iterator();
    while (it.hasNext()) {
      Map.Entry entry = (Map.Entry) it.next();
      if (((Long) entry.getValue()).longValue() >= time) names.add(entry.getKey());
    }
    return names;
  }

  /** A nested execution is part of its root. Only a write inside a stream's `foreachBatch` is reported by itself. */
  private void onNestedStart(SparkListenerSQLExecutionStart e, long rootId) {
    this.nested.incrementAndGet();
    if (!this.batches.contains(Long.valueOf(rootId))) return;
    Observation write = new Observation("nested", e.executionId(), e.time());
    write.query = SQLExecution.getQueryExecution(e.executionId());
    write.rootId = rootId;
    enqueue(write);
  }

  /** The plan is sent with the end of an execution if Spark had already dropped the query when its start arrived. */
  private void onExecutionEnd(SparkListenerSQLExecutionEnd e) {
    Long id = Long.valueOf(e.executionId());
    this.batches.remove(id);
    this.wrappers.remove(id);
    Long plannedTime = (Long) this.openWithPlan.remove(id);
    boolean hasPlan = plannedTime != null;
    Long startTime = (Long) this.openWithoutPlan.remove(id);
    boolean needsPlan = startTime != null;
    if (!hasPlan && !needsPlan) return;
    Observation end = new Observation("end", e.executionId(), e.time());
    scala.Option message = e.errorMessage();
    // errorMessage is Some("") for an execution that succeeded
    if (message.isDefined() && String.valueOf(message.get()).length() > 0) end.text = String.valueOf(message.get());
    end.isCancelled = isCancellation(Reflect.unwrap(call(e, "executionFailure")));
    end.query = e.qe();
    end.needsPlan = needsPlan;
    end.startTime = needsPlan ? startTime.longValue() : plannedTime.longValue();
    end.dropped = droppedSince(end.startTime);
    enqueue(end);
  }

  private void onStreamEvent(Object e) {
    String name = e.getClass().getSimpleName();
    Object progress = call(e, "progress");
    long now = System.currentTimeMillis();
    Observation event = null;
    if (name.equals("QueryProgressEvent") && progress != null) {
      event = new Observation("stream_progress", NO_ID, now);
      event.streamRunId = String.valueOf(call(progress, "runId"));
    } else if (name.equals("QueryStartedEvent")) {
      event = new Observation("stream_start", NO_ID, now);
      event.text = (String) call(e, "name");
      event.streamId = String.valueOf(call(e, "id"));
      // kept until the plan is written: a short stream ends before
      event.query = Reflect.field(activeStream(String.valueOf(call(e, "runId"))), "plan");
    } else if (name.equals("QueryTerminatedEvent")) {
      event = new Observation("stream_end", NO_ID, now);
      Object error = Reflect.unwrap(call(e, "exception"));
      if (error != null) event.text = String.valueOf(error);
    }
    if (event == null) return;
    if (event.streamRunId == null) event.streamRunId = String.valueOf(call(e, "runId"));
    enqueue(event);
  }

  /** Queues an observation without waiting; a full queue drops and counts it. */
  private boolean enqueue(Observation observation) {
    this.accepted.incrementAndGet();
    if (this.observations.offer(observation)) return true;
    this.discarded.incrementAndGet();
    this.dropped.incrementAndGet();
    return false;
  }

  // --- on the thread of this class --------------------------------------------------------------------------------------

  public void run() {
    while (!this.closed) {
      try {
        Observation observation = (Observation) this.observations.poll(POLL_MILLISECONDS, TimeUnit.MILLISECONDS);
        if (observation == null) continue;
        String message = null;
        try { message = toJson(observation); } catch (Throwable x) { message = failureJson(observation, x); }
        if (message == null) this.discarded.incrementAndGet();
        else if (!this.messages.offer(message)) { this.discarded.incrementAndGet(); this.dropped.incrementAndGet(); }
      } catch (InterruptedException x) {
        // close() interrupts; the loop then ends
      } catch (Throwable x) {
        this.failures.incrementAndGet();
      }
    }
  }

  /** The message of an observation whose plan could not be written: everything except the plan, and the reason. */
  private String failureJson(Observation observation, Throwable x) {
    this.failures.incrementAndGet();
    StringBuilder b = new StringBuilder(512);
    appendHead(b, observation);
    b.append(",\"failure\":"); JsonText.append(b, JsonText.truncate(String.valueOf(x), MAX_FAILURE_CHARS));
    return b.append('}').toString();
  }

  private static void appendHead(StringBuilder b, Observation observation) {
    b.append("{\"kind\":\"").append(observation.kind);
    b.append("\",\"id\":").append(observation.id).append(",\"time\":").append(observation.time);
    if (observation.text != null) { b.append(",\"text\":"); JsonText.append(b, JsonText.truncate(observation.text, MAX_TEXT_CHARS)); }
    if (observation.streamRunId != null) { b.append(",\"run\":"); JsonText.append(b, observation.streamRunId); }
    if (observation.kind.equals("end")) b.append(",\"is_cancelled\":").append(observation.isCancelled);
    if (observation.dropped != null && !observation.dropped.isEmpty()) {
      b.append(",\"dropped\":"); JsonText.appendStrings(b, observation.dropped.toArray(new String[0]));
    }
  }

  /** The message of an observation; null if there is nothing to report. */
  private String toJson(Observation observation) {
    StringBuilder b = new StringBuilder(4096);
    appendHead(b, observation);
    if (observation.kind.startsWith("stream")) appendStream(b, observation);
    else if (observation.kind.equals("nested")) { if (!appendNested(b, observation)) return null; }
    else appendExecution(b, observation);
    return b.append('}').toString();
  }

  private void appendStream(StringBuilder b, Observation observation) {
    if (observation.streamId != null) { b.append(",\"query\":"); JsonText.append(b, observation.streamId); }
    if (observation.query != null) appendPlan(b, observation.query, observation.startTime);
    if (!observation.kind.equals("stream_progress")) return;
    Object plan = firstStreamPlan(observation.streamRunId);
    if (plan != null) appendPlan(b, plan, observation.startTime);
  }

  /** Appends a command that runs inside a stream's batch. Returns false for a query, which is part of a plan already sent. */
  private boolean appendNested(StringBuilder b, Observation observation) {
    if (observation.query == null) return false;
    Object plan = ((QueryExecution) observation.query).analyzed();
    if (!(plan instanceof Command)) return false;
    b.append(",\"root\":").append(observation.rootId);
    appendPlan(b, plan, observation.startTime);
    return true;
  }

  private void appendExecution(StringBuilder b, Observation observation) {
    if (observation.tags != null) { b.append(",\"tags\":"); JsonText.appendStrings(b, observation.tags); }
    if (observation.query instanceof Rdds.Job) {
      Rdds.Job job = (Rdds.Job) observation.query;
      ArrayList jobPlans = new ArrayList();
      for (int i = 0; i < job.queries.size(); i++) jobPlans.add(((QueryExecution) job.queries.get(i)).analyzed());
      b.append(",\"plan\":").append(PlanWriter.jobJson(jobPlans, job.files, job.output, this.maxPlanChars));
      return;
    }
    QueryExecution query = (QueryExecution) observation.query;
    if (observation.kind.equals("end") && this.unanalyzed.remove(Long.valueOf(observation.id))) { b.append(",\"own\":true"); return; }
    if (query == null) return;
    if (observation.needsPlan) {
      Object plan = analyzedPlan(query);
      if (plan == null) {
        if (observation.kind.equals("start")) this.unanalyzed.add(Long.valueOf(observation.id));
        b.append(",\"own\":true");
        return;
      }
      if (PlanWriter.readsDeltaLog(plan) || showsCommandResult(query, plan)) { b.append(",\"own\":true"); return; }
      appendSql(b, plan);
      appendPlan(b, plan, observation.startTime);
    }
    if (observation.kind.equals("end")) Metrics.append(b, query);
  }

  /** The analyzed plan; null if Spark could not analyze the query, for example because a name in it does not exist. */
  private static Object analyzedPlan(QueryExecution query) {
    try {
      return query.analyzed();
    } catch (Throwable x) {
      return null;
    }
  }

  /** Whether a query only shows the rows that a command returned. The command itself ran in an execution of its own. */
  private static boolean showsCommandResult(Object query, Object plan) {
    return "ALL".equals(String.valueOf(call(query, "mode"))) && isCommand(plan);
  }

  private static boolean isCommand(Object plan) {
    if (plan instanceof Command) return true;
    if (!(plan instanceof Union)) return false;
    scala.collection.Iterator children = ((Union) plan).children().iterator();
    while (children.hasNext()) if (!isCommand(children.next())) return false;
    return true;
  }

  /** Appends the SQL text of a statement; a DataFrame has none. In Spark 4.2 only the parts of a CTAS carry the text. */
  private static void appendSql(StringBuilder b, Object plan) {
    String text = sqlText(plan);
    if (text == null) text = sqlText(call(plan, "name"));
    if (text == null) text = createStatementAround(call(plan, "query"));
    if (text != null) { b.append(",\"sql\":"); JsonText.append(b, JsonText.truncate(text, MAX_SQL_CHARS)); }
  }

  /** The text of the CTAS that a query is part of; null if the query is a statement of its own. */
  private static String createStatementAround(Object query) {
    String text = sqlText(query);
    Object start = text == null ? null : Reflect.unwrap(call(call(query, "origin"), "startIndex"));
    if (start == null) return null;
    int end = Math.min(((Number) start).intValue(), text.length());
    return CREATE.matcher(text.substring(0, end)).matches() ? text : null;
  }

  private static String sqlText(Object node) {
    Object text = Reflect.unwrap(call(call(node, "origin"), "sqlText"));
    return text == null ? null : String.valueOf(text);
  }

  private void appendPlan(StringBuilder b, Object plan, long startTime) {
    long began = System.nanoTime();
    b.append(",\"plan\":").append(PlanWriter.toJson(plan, this.maxPlanChars, startTime));
    this.plans.incrementAndGet();
    this.planNanos.addAndGet(System.nanoTime() - began);
  }

  /** The analyzed plan of a stream's last batch, once per stream; null afterwards or before the first batch. */
  private Object firstStreamPlan(String runId) {
    if (this.streamsWithPlan.contains(runId)) return null;
    Object last = call(activeStream(runId), "lastExecution");
    if (last == null) return null;
    if (this.streamsWithPlan.size() > MAX_STREAMS) this.streamsWithPlan.clear();
    this.streamsWithPlan.add(runId);
    return call(last, "analyzed");
  }

  /** The running stream with this run id, of any session; null if it has ended. */
  private static Object activeStream(String runId) {
    scala.Option session = org.apache.spark.sql.SparkSession.getDefaultSession();
    if (!session.isDefined()) return null;
    Object active = call(call(session.get(), "sharedState"), "activeStreamingQueries");
    if (!(active instanceof java.util.Map)) return null;
    Iterator streams = ((java.util.Map) active).values().iterator();
    while (streams.hasNext()) {
      Object stream = streams.next();
      if (runId.equals(String.valueOf(call(stream, "runId")))) return stream;
    }
    return null;
  }

  // --- called from Python -----------------------------------------------------------------------------------------------

  /** The first chunk of the next message, or null after `millis`. A leading '+' means that `nextChunk` has more. */
  public String poll(long millis) throws InterruptedException {
    String message = (String) this.messages.poll(millis, TimeUnit.MILLISECONDS);
    if (message == null || message == CLOSED) return null;
    this.chunks = new Chunks(message);
    return nextChunk();
  }

  public String nextChunk() { return this.chunks.nextChunk(); }

  public String stats() {
    return "{\"dropped\":" + this.dropped.get() + ",\"accepted\":" + this.accepted.get() + ",\"discarded\":" + this.discarded.get()
        + ",\"seen\":" + this.seen.get() + ",\"nested\":" + this.nested.get() + ",\"failures\":" + this.failures.get()
        + ",\"listener_nanos\":" + this.listenerNanos.get() + ",\"plans\":" + this.plans.get() + ",\"plan_nanos\":" + this.planNanos.get() + "}";
  }

  private static Object call(Object target, String method) { return Reflect.call(target, method); }
}
