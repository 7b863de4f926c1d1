"""DAX: text → tokens → syntax → the columns and measures that an expression depends on, and how."""
