"""Reports of Power BI (PBIR): JSON files → pages and visuals → the fields of the model that they show and filter by."""
