package colline;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoDir;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ParsedStatement;
import org.apache.spark.sql.catalyst.trees.TreeNode;

/** Finds statements in parsed SQL. Spark executes a statement as soon as a DataFrame is made of it. */
public class Statements {
  /** Statements of other kinds. Spark executes them while it analyzes them. */
  private static final HashSet OTHERS = new HashSet(Arrays.asList(new String[] {"UnresolvedExecuteImmediate", "Call", "CompoundBody"}));

  /** The name of the first node that is not part of a query; null if the SQL text is a query. */
  public String find(Object plan) {
    ArrayList stack = new ArrayList();
    stack.add(plan);
    while (!stack.isEmpty()) {
      TreeNode node = (TreeNode) stack.remove(stack.size() - 1);
      String name = node.getClass().getSimpleName();
      boolean isStatement = node instanceof Command || node instanceof ParsedStatement || node instanceof InsertIntoDir;
      if (isStatement || OTHERS.contains(name) || !(node instanceof LogicalPlan)) return name;
      scala.collection.Iterator children = node.children().iterator();
      while (children.hasNext()) stack.add(children.next());
    }
    return null;
  }
}
