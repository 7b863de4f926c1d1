"""Where everything of a lake is: its folders and marker files, its table schemas, its Delta logs, its lock."""
