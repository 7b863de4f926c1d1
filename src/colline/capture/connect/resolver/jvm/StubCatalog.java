package colline;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.NamespaceChange;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A catalog of stub tables. The same class takes the place of every catalog of the server, `spark_catalog` included. */
public class StubCatalog implements TableCatalog, SupportsNamespaces {
  private static final HashMap TABLES = new HashMap();
  private static final LinkedHashSet MISSING = new LinkedHashSet();
  private String name;

  /** Registers a table under the parts of its name. */
  public static synchronized void put(Object[] parts, Object table) { TABLES.put(key(parts), table); }

  /** Forgets all tables. */
  public static synchronized void clear() { TABLES.clear(); MISSING.clear(); }

  /** The names that queries have asked for and that are not registered: one per line, their parts separated by tabs. */
  public static synchronized String missingNames() {
    StringBuilder b = new StringBuilder();
    java.util.Iterator it = MISSING.iterator();
    while (it.hasNext()) b.append(it.next()).append('\n');
    MISSING.clear();
    return b.toString();
  }

  private static String key(Object[] parts) {
    StringBuilder b = new StringBuilder();
    for (int i = 0; i < parts.length; i++) b.append(i == 0 ? "" : "\t").append(parts[i]);
    return b.toString();
  }

  public void initialize(String name, CaseInsensitiveStringMap options) { this.name = name; }
  public String name() { return this.name; }

  public Table loadTable(Identifier id) throws NoSuchTableException {
    Table found = find(id);
    if (found != null) return found;
    synchronized (StubCatalog.class) { MISSING.add(key(parts(id))); }
    throw new NoSuchTableException(id);
  }

  public Table loadTable(Identifier id, String version) throws NoSuchTableException { return loadTable(id); }
  public Table loadTable(Identifier id, long time) throws NoSuchTableException { return loadTable(id); }
  public Table loadTable(Identifier id, Set privileges) throws NoSuchTableException { return loadTable(id); }

  /** Names are compared without case, as the session catalog does. */
  private Table find(Identifier id) {
    String wanted = key(parts(id));
    synchronized (StubCatalog.class) {
      java.util.Iterator it = TABLES.keySet().iterator();
      while (it.hasNext()) { String known = (String) it.next(); if (known.equalsIgnoreCase(wanted)) return (Table) TABLES.get(known); }
    }
    return null;
  }

  private Object[] parts(Identifier id) {
    Object[] all = new Object[id.namespace().length + 2];
    all[0] = this.name;
    for (int i = 0; i < id.namespace().length; i++) all[i + 1] = id.namespace()[i];
    all[all.length - 1] = id.name();
    return all;
  }

  public boolean tableExists(Identifier id) { return find(id) != null; }
  public boolean namespaceExists(String[] namespace) { return true; }
  public Map loadNamespaceMetadata(String[] namespace) { return new HashMap(); }
  public Identifier[] listTables(String[] namespace) { return new Identifier[0]; }
  public String[][] listNamespaces() { return new String[0][]; }
  public String[][] listNamespaces(String[] namespace) { return new String[0][]; }

  public Table createTable(Identifier id, org.apache.spark.sql.types.StructType schema,
      org.apache.spark.sql.connector.expressions.Transform[] partitions, Map properties) {
    throw new UnsupportedOperationException("a stub catalog cannot be changed");
  }

  public Table alterTable(Identifier id, TableChange[] changes) { throw new UnsupportedOperationException("a stub catalog cannot be changed"); }
  public void renameTable(Identifier from, Identifier to) { throw new UnsupportedOperationException("a stub catalog cannot be changed"); }
  public boolean dropTable(Identifier id) { return false; }
  public void createNamespace(String[] namespace, Map metadata) { }
  public void alterNamespace(String[] namespace, NamespaceChange[] changes) { }
  public boolean dropNamespace(String[] namespace, boolean cascade) { return false; }
}
