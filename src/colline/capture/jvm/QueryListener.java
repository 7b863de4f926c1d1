package colline;

import java.util.HashSet;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The tap: a listener that notes which executions start and end, and a thread of its own that writes their plans as JSON.
 *
 * Compiled at attach time by Janino, so the source keeps to what Janino knows: no lambdas, no generics, explicit casts.
 * The listener thread only queues references; the plan is an immutable value and is read on the tap's own thread.
 */
public class QueryListener extends org.apache.spark.scheduler.SparkListener implements Runnable {
  private static final String NOTHING = new String("");
  private final LinkedBlockingQueue heard;
  private final LinkedBlockingQueue told;
  private final HashSet open = new HashSet();
  private final HashSet batches = new HashSet();
  private final int limit;
  private volatile boolean closed = false;
  private Thread thread;
  private Chunks pieces = null;
  public final AtomicLong dropped = new AtomicLong();
  /** What was queued, and what of it became no message: with these a reader knows that it has read everything. */
  public final AtomicLong accepted = new AtomicLong();
  public final AtomicLong discarded = new AtomicLong();
  public final AtomicLong seen = new AtomicLong();
  public final AtomicLong nested = new AtomicLong();
  public final AtomicLong failures = new AtomicLong();
  public final AtomicLong listenerNanos = new AtomicLong();
  public final AtomicLong plans = new AtomicLong();
  public final AtomicLong planNanos = new AtomicLong();

  public QueryListener(int capacity, int limit) {
    this.heard = new LinkedBlockingQueue(capacity);
    this.told = new LinkedBlockingQueue(capacity);
    this.limit = limit;
  }

  public void start() {
    this.thread = new Thread(null, this, "colline-tap", 512L * 1024L * 1024L);
    this.thread.setDaemon(true);
    this.thread.start();
  }

  public void close() {
    this.closed = true;
    if (this.thread != null) this.thread.interrupt();
    this.told.offer(NOTHING); // a reader that waits for a message goes home
  }

  /** A reader that looks into files for their schema: Spark's own reading, before the user's query begins. */
  private static final java.util.regex.Pattern LOOKING = java.util.regex.Pattern.compile("org\\.apache\\.spark\\.sql\\.[a-z.]*DataFrameReader\\.");

  public void onOtherEvent(org.apache.spark.scheduler.SparkListenerEvent e) {
    if (this.closed) return;
    long began = System.nanoTime();
    try {
      if (e instanceof org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart) onStart((org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart) e);
      else if (e instanceof org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd) onEnd((org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd) e);
      else if (e.getClass().getName().startsWith("org.apache.spark.sql.streaming.StreamingQueryListener")) onStream(e);
      else return;
    } catch (Throwable x) {
      this.failures.incrementAndGet();
    }
    this.listenerNanos.addAndGet(System.nanoTime() - began);
  }

  public void onApplicationEnd(org.apache.spark.scheduler.SparkListenerApplicationEnd e) {
    put(new Object[] {"application_end", Long.valueOf(-1L), Long.valueOf(e.time()), null, null, null, null});
  }

  private final Rdds rdds = new Rdds();

  public void note(int rdd, Object query) { this.rdds.note(rdd, query); }

  /** `df.rdd` leaves Spark SQL behind: `foreach` and the like are plain jobs, told like an execution that only reads. */
  public void onJobStart(org.apache.spark.scheduler.SparkListenerJobStart e) {
    if (this.closed) return;
    try {
      Object query = this.rdds.begin(e);
      if (query != null) put(new Object[] {"start", Rdds.id(e.jobId()), Long.valueOf(e.time()), null, query, Rdds.tags(e), null});
    } catch (Throwable x) {
      this.failures.incrementAndGet();
    }
  }

  public void onJobEnd(org.apache.spark.scheduler.SparkListenerJobEnd e) {
    if (this.closed || !this.rdds.end(e.jobId())) return;
    Object error = call(e.jobResult(), "exception");
    put(new Object[] {"end", Rdds.id(e.jobId()), Long.valueOf(e.time()), error == null ? null : String.valueOf(call(error, "getMessage")), null, null, Boolean.FALSE});
  }

  private void onStart(org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart e) {
    Long id = Long.valueOf(e.executionId());
    scala.Option root = e.rootExecutionId();
    if (root.isDefined() && ((Number) root.get()).longValue() != e.executionId()) {
      this.nested.incrementAndGet();
      // what a stream's foreachBatch writes is inside the batch's execution, and is the user's all the same
      if (this.batches.contains(root.get())) put(new Object[] {"nested", id, Long.valueOf(e.time()), null, org.apache.spark.sql.execution.SQLExecution.getQueryExecution(e.executionId()), null, root.get()});
      return;
    }
    if (e.details() != null && LOOKING.matcher(e.details()).lookingAt()) {
      this.nested.incrementAndGet();
      return;
    }
    if (e.description() != null && e.description().indexOf("runId = ") >= 0) {
      if (this.batches.size() > 10000) this.batches.clear();
      this.batches.add(id);
    }
    this.seen.incrementAndGet();
    org.apache.spark.sql.execution.QueryExecution running = org.apache.spark.sql.execution.SQLExecution.getQueryExecution(e.executionId());
    boolean queued = put(new Object[] {"start", id, Long.valueOf(e.time()), e.description(), running, call(e, "jobTags"), null});
    if (this.open.size() > 100000) this.open.clear();
    // an id kept positive has told its plan already
    this.open.add(Long.valueOf(queued && running != null ? e.executionId() + 1 : -e.executionId() - 1));
  }

  private void onEnd(org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd e) {
    long id = e.executionId();
    this.batches.remove(Long.valueOf(id));
    boolean told = this.open.remove(Long.valueOf(id + 1));
    boolean untold = this.open.remove(Long.valueOf(-id - 1));
    if (!told && !untold) return;
    String error = null;
    scala.Option message = e.errorMessage();
    if (message.isDefined() && String.valueOf(message.get()).length() > 0) error = String.valueOf(message.get());
    Object[] item = new Object[] {"end", Long.valueOf(id), Long.valueOf(e.time()), error, e.qe(), null, Boolean.valueOf(untold)};
    // the end of a run is worth a little patience: without it the run would stay open for ever
    put(item);
  }

  private void onStream(Object e) {
    String name = e.getClass().getSimpleName();
    Object progress = call(e, "progress");
    if (name.equals("QueryProgressEvent") && progress != null) {
      put(new Object[] {"stream_progress", Long.valueOf(-1L), Long.valueOf(System.currentTimeMillis()), null, null, null, String.valueOf(call(progress, "runId"))});
    } else if (name.equals("QueryStartedEvent")) {
      put(new Object[] {"stream_start", Long.valueOf(-1L), Long.valueOf(System.currentTimeMillis()), (String) call(e, "name"), null, String.valueOf(call(e, "id")), String.valueOf(call(e, "runId"))});
    } else if (name.equals("QueryTerminatedEvent")) {
      Object error = Reflect.held(call(e, "exception"));
      put(new Object[] {"stream_end", Long.valueOf(-1L), Long.valueOf(System.currentTimeMillis()), error == null ? null : String.valueOf(error), null, null, String.valueOf(call(e, "runId"))});
    }
  }

  private boolean put(Object[] item) {
    this.accepted.incrementAndGet();
    if (this.heard.offer(item)) return true;
    this.discarded.incrementAndGet();
    this.dropped.incrementAndGet();
    return false;
  }

  public void run() {
    while (!this.closed) {
      try {
        Object[] item = (Object[]) this.heard.poll(500L, TimeUnit.MILLISECONDS);
        if (item == null) continue;
        String text = null;
        try { text = tell(item); } catch (Throwable x) { text = untold(item, x); }
        if (text == null) this.discarded.incrementAndGet();
        else if (!this.told.offer(text)) { this.discarded.incrementAndGet(); this.dropped.incrementAndGet(); }
      } catch (InterruptedException x) {
        // closed: the loop's condition ends it
      } catch (Throwable x) {
        this.failures.incrementAndGet();
      }
    }
  }

  /** What is left of a message whose plan could not be written: that it happened, and why it is not whole. */
  private String untold(Object[] item, Throwable x) {
    this.failures.incrementAndGet();
    StringBuilder b = new StringBuilder(512);
    b.append("{\"kind\":\"").append(item[0]).append("\",\"id\":").append(item[1]).append(",\"time\":").append(item[2]);
    if (item[3] != null) { b.append(",\"text\":"); JsonText.string(b, JsonText.cut((String) item[3], 20000)); }
    if (item[6] instanceof String) { b.append(",\"run\":"); JsonText.string(b, (String) item[6]); }
    b.append(",\"failure\":"); JsonText.string(b, JsonText.cut(String.valueOf(x), 500));
    return b.append('}').toString();
  }

  private String tell(Object[] item) {
    String kind = (String) item[0];
    StringBuilder b = new StringBuilder(4096);
    b.append("{\"kind\":\"").append(kind).append("\",\"id\":").append(item[1]).append(",\"time\":").append(item[2]);
    if (item[3] != null) { b.append(",\"text\":"); JsonText.string(b, JsonText.cut((String) item[3], 20000)); }
    if (kind.startsWith("stream")) {
      b.append(",\"run\":"); JsonText.string(b, String.valueOf(item[6]));
      if (item[5] != null) { b.append(",\"query\":"); JsonText.string(b, String.valueOf(item[5])); }
      if (kind.equals("stream_progress")) { Object[] last = streamPlan(String.valueOf(item[6])); if (last != null) planOf(b, last[0]); }
      return b.append('}').toString();
    }
    if (kind.equals("nested")) return nested(b, item);
    if (item[5] != null) { b.append(",\"tags\":"); JsonText.strings(b, item[5]); }
    org.apache.spark.sql.execution.QueryExecution qe = (org.apache.spark.sql.execution.QueryExecution) item[4];
    if (qe != null) {
      boolean untold = item[6] == null || ((Boolean) item[6]).booleanValue();
      if (untold) {
        Object plan = qe.analyzed();
        if (PlanWriter.isDeltaLog(plan) || isResult(qe, plan)) { b.append(",\"own\":true"); return b.append('}').toString(); }
        sqlOf(b, plan);
        planOf(b, plan);
      }
      if (kind.equals("end")) Metrics.metrics(b, qe);
    }
    return b.append('}').toString();
  }

  /** A command inside a stream's batch; a query inside one is part of something told already. */
  private String nested(StringBuilder b, Object[] item) {
    if (item[4] == null) return null;
    Object plan = ((org.apache.spark.sql.execution.QueryExecution) item[4]).analyzed();
    if (!(plan instanceof org.apache.spark.sql.catalyst.plans.logical.Command)) return null;
    b.append(",\"root\":").append(item[6]);
    planOf(b, plan);
    return b.append('}').toString();
  }

  /** Whether the rows a command left are only looked at: Spark ran it already, by a query of its own inside this one. */
  private static boolean isResult(Object query, Object plan) {
    return "ALL".equals(String.valueOf(call(query, "mode"))) && isCommand(plan);
  }

  private static boolean isCommand(Object plan) {
    if (plan instanceof org.apache.spark.sql.catalyst.plans.logical.Command) return true;
    if (!(plan instanceof org.apache.spark.sql.catalyst.plans.logical.Union)) return false;
    scala.collection.Iterator each = ((org.apache.spark.sql.catalyst.plans.logical.Union) plan).children().iterator();
    while (each.hasNext()) if (!isCommand(each.next())) return false;
    return true;
  }

  private static final java.util.regex.Pattern CREATE = java.util.regex.Pattern.compile("(?is)(\\s++|/\\*.*?\\*/|--[^\n]*+\n)*+(create|replace)\\b.*");

  /** The SQL text a statement was parsed from; a DataFrame has none. In Spark 4.2 a CTAS has it only in its parts. */
  private static void sqlOf(StringBuilder b, Object plan) {
    String text = sqlAt(plan);
    if (text == null) text = sqlAt(call(plan, "name"));
    if (text == null) text = sqlAround(call(plan, "query"));
    if (text != null) { b.append(",\"sql\":"); JsonText.string(b, JsonText.cut(text, 100000)); }
  }

  /** The text of the CTAS that this query is part of; null for a query that was a statement of its own. */
  private static String sqlAround(Object query) {
    String text = sqlAt(query);
    Object start = text == null ? null : Reflect.held(call(call(query, "origin"), "startIndex"));
    if (start == null) return null;
    int at = Math.min(((Number) start).intValue(), text.length());
    return CREATE.matcher(text.substring(0, at)).matches() ? text : null;
  }

  private static String sqlAt(Object node) {
    Object text = Reflect.held(call(call(node, "origin"), "sqlText"));
    return text == null ? null : String.valueOf(text);
  }

  private void planOf(StringBuilder b, Object plan) {
    long began = System.nanoTime();
    b.append(",\"plan\":").append(PlanWriter.plan(plan, this.limit));
    this.plans.incrementAndGet();
    this.planNanos.addAndGet(System.nanoTime() - began);
  }

  private HashSet streams = new HashSet();

  /** The analyzed plan of a stream's last batch, the first time it is asked for; null afterwards. */
  private Object[] streamPlan(String run) {
    if (this.streams.contains(run)) return null;
    scala.Option session = org.apache.spark.sql.SparkSession.getDefaultSession();
    if (!session.isDefined()) return null;
    Object streams = call(session.get(), "streams");
    Object[] active = (Object[]) call(streams, "active");
    for (int i = 0; active != null && i < active.length; i++) {
      if (!run.equals(String.valueOf(call(active[i], "runId")))) continue;
      Object execution = call(active[i], "streamingQuery");
      if (execution == null) execution = active[i];
      Object last = call(execution, "lastExecution");
      if (last == null) return null;
      if (this.streams.size() > 10000) this.streams.clear();
      this.streams.add(run);
      return new Object[] {call(last, "analyzed")};
    }
    return null;
  }

  /** The next message's first piece, or null after `millis`; a '+' in front says that `more` has the rest. */
  public String poll(long millis) throws InterruptedException {
    String text = (String) this.told.poll(millis, TimeUnit.MILLISECONDS);
    if (text == null || text == NOTHING) return null;
    this.pieces = new Chunks(text);
    return more();
  }

  public String more() { return this.pieces.more(); }

  public String stats() {
    return "{\"dropped\":" + this.dropped.get() + ",\"accepted\":" + this.accepted.get() + ",\"discarded\":" + this.discarded.get() + ",\"seen\":" + this.seen.get() + ",\"nested\":" + this.nested.get() + ",\"failures\":" + this.failures.get()
        + ",\"listener_nanos\":" + this.listenerNanos.get() + ",\"plans\":" + this.plans.get() + ",\"plan_nanos\":" + this.planNanos.get() + "}";
  }

  static Object call(Object target, String method) { return Reflect.call(target, method); }
}
