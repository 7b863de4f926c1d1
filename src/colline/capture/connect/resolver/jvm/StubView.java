package colline;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.V1Table;
import org.apache.spark.sql.types.DataType;

/** Creates the description of a permanent view of the session catalog, from which Spark expands the view. */
public class StubView {
  /** `parts` are catalog, database and name; `properties` are those that Spark keeps of a view. */
  public Table create(Object[] parts, String schema, String text, Map properties) throws Exception {
    TableIdentifier id = new TableIdentifier((String) parts[2], new scala.Some(parts[1]), new scala.Some(parts[0]));
    ArrayList names = argumentNames();
    Object[] arguments = new Object[names.size()];
    Object module = Class.forName(CatalogTable.class.getName() + "$", true, CatalogTable.class.getClassLoader()).getField("MODULE$").get(null);
    for (int i = 4; i < arguments.length; i++) {
      Method method = module.getClass().getMethod("apply$default$" + (i + 1), new Class[0]);
      arguments[i] = method.invoke(module, new Object[0]);
    }
    arguments[0] = id;
    arguments[1] = CatalogTableType.VIEW();
    arguments[2] = CatalogStorageFormat.empty();
    arguments[3] = DataType.fromJson(schema);
    arguments[names.indexOf("properties")] = scalaMap(properties);
    arguments[names.indexOf("viewText")] = new scala.Some(text);
    return new V1Table((CatalogTable) CatalogTable.class.getConstructors()[0].newInstance(arguments));
  }

  /** The names of the constructor's arguments: their fields are final and in this order; those of lazy values are not final. */
  private static ArrayList argumentNames() {
    int count = CatalogTable.class.getConstructors()[0].getParameterTypes().length;
    ArrayList names = new ArrayList();
    Field[] fields = CatalogTable.class.getDeclaredFields();
    for (int i = 0; i < fields.length && names.size() < count; i++) {
      int modifiers = fields[i].getModifiers();
      if (Modifier.isFinal(modifiers) && !Modifier.isStatic(modifiers)) names.add(fields[i].getName());
    }
    return names;
  }

  private static scala.collection.immutable.Map scalaMap(Map map) {
    scala.collection.immutable.Map result = (scala.collection.immutable.Map) scala.collection.immutable.Map$.MODULE$.empty();
    Iterator it = map.entrySet().iterator();
    while (it.hasNext()) {
      Map.Entry pair = (Map.Entry) it.next();
      result = (scala.collection.immutable.Map) result.updated(pair.getKey(), pair.getValue());
    }
    return result;
  }
}
