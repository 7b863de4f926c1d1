"""The questions of the graph, one module for each group of questions."""
