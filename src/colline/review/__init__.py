"""Reviews a change of SQL files, dbt projects and contracts: what it does to lineage, and to everything downstream."""
