"""dbt projects, from the files that dbt writes: manifest.json and catalog.json."""
