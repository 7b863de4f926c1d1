"""Power Query (M): text → tokens → syntax → the columns that each step of a query takes from its sources."""
