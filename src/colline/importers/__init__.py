"""`colline import`: definitions in files → OpenLineage events in the landing folder of a lake.

Each format reads its files into the values of `definitions`: jobs with the lineage of what they write, and descriptions
of datasets. `definition_events` builds the events, the same for every format.
"""

# namespaces of datasets that only an import creates: tables of semantic models, pages of reports, metrics
POWER_BI, DBT = "powerbi", "dbt"
# addresses of datasets in the layer platinum: semantic models, reports, metrics
PLATINUM_ADDRESSES = r"^(powerbi|dbt)(:|/)"
