"""The sources that M opens, as addresses: databases, lakehouses, warehouses, files and web pages.

`DATABASES` maps a function to the JDBC address of the same database, so that a table has the same name as in Spark.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from colline.naming.dataset import NameContext
from colline.naming.file_paths import name_of_path
from colline.naming.jdbc import qualified_table_name
from colline.plan.source import Source, SourceKind
from colline.semantic_models.power_query.m_values import SourcePlace
from colline.semantic_models.source_address import SourceAddress
from colline.trace import DatasetName

_NO_CONTEXT = NameContext()


@dataclass(frozen=True, slots=True)
class Database:
    """The JDBC URL of a database, with `{0}` for the server and `{1}` for the database, and its dialect in sqlglot."""

    url: str
    dialect: str


DATABASES: dict[str, Database] = {
    "Sql.Database": Database("jdbc:sqlserver://{0};databaseName={1}", "tsql"),
    "Sql.Databases": Database("jdbc:sqlserver://{0}", "tsql"),
    "PostgreSQL.Database": Database("jdbc:postgresql://{0}/{1}", "postgres"),
    "MySQL.Database": Database("jdbc:mysql://{0}/{1}", "mysql"),
    "MariaDB.Contents": Database("jdbc:mysql://{0}/{1}", "mysql"),
    "Oracle.Database": Database("jdbc:oracle:thin:@//{0}", "oracle"),
    "AmazonRedshift.Database": Database("jdbc:redshift://{0}/{1}", "redshift"),
    "Snowflake.Databases": Database("jdbc:snowflake://{0}/", "snowflake"),
    "Teradata.Database": Database("jdbc:teradata://{0}", "teradata"),
    "DB2.Database": Database("jdbc:db2://{0}/{1}", ""),
    "SapHana.Database": Database("jdbc:sap://{0}", ""),
    "ClickHouse.Database": Database("jdbc:clickhouse://{0}/{1}", "clickhouse"),
    "Trino.Contents": Database("jdbc:trino://{0}/{1}", "trino"),
    "Databricks.Catalogs": Database("", "databricks"),
    "DatabricksMultiCloud.Catalogs": Database("", "databricks"),
    "Databricks.Query": Database("", "databricks"),
    "GoogleBigQuery.Database": Database("", "bigquery"),
    "Lakehouse.Contents": Database("", "tsql"),
    "Fabric.Warehouse": Database("", "tsql"),
}
# the first argument is a path or URL; navigation steps add names to it
FILES = frozenset((
    "File.Contents", "Folder.Contents", "Folder.Files", "Web.Contents", "Web.Page", "Web.BrowserContents",
    "AzureStorage.DataLake", "AzureStorage.DataLakeContents", "AzureStorage.Blobs", "AzureStorage.BlobContents",
    "SharePoint.Files", "SharePoint.Contents", "SharePoint.Tables", "OData.Feed", "Hdfs.Files", "Hdfs.Contents",
    "AmazonS3.Contents", "GoogleSheets.Contents",
))  # fmt: skip
# sources without an address that others could know
OTHER_SOURCES = frozenset((
    "Odbc.DataSource", "Odbc.Query", "OleDb.DataSource", "OleDb.Query", "PowerPlatform.Dataflows", "PowerBI.Dataflows",
    "AnalysisServices.Database", "AnalysisServices.Databases", "Salesforce.Data", "Dynamics365.Contents",
    "Exchange.Contents", "CommonDataService.Database", "Cube.Transform", "AzureDataExplorer.Contents",
    "Kusto.Contents", "GoogleAnalytics.Accounts",
    "ActiveDirectory.Domains", "Access.Database", "SapBusinessWarehouse.Cubes", "Essbase.Cubes",
))  # fmt: skip
# files of one table: the result has the columns of the file
DOCUMENTS = frozenset((
    "DeltaLake.Table", "Parquet.Document", "Csv.Document", "Excel.Workbook", "Json.Document", "Xml.Tables",
    "Xml.Document", "Lines.FromBinary", "Pdf.Tables", "Html.Table", "Excel.CurrentWorkbook", "Iceberg.Table",
))  # fmt: skip


def dialect_of(place: SourcePlace) -> str:
    """The SQL dialect of a database, as sqlglot calls it."""
    return DATABASES[place.connector].dialect if place.connector in DATABASES else ""


def source_address(place: SourcePlace) -> SourceAddress:
    """The address of the table or file at a place."""
    rule = _RULES.get(place.connector)
    if rule is not None:
        return rule(place)
    if place.connector in DATABASES:
        return _database_table(place)
    return _file(place) if place.connector in FILES else _unknown_source(place)


def table_address(place: SourcePlace, parts: tuple[str, ...]) -> SourceAddress:
    """The address of a table that a SQL query names, in the database at a place."""
    return source_address(place.step({"Schema": ".".join(parts[:-1]), "Item": parts[-1]}) if parts else place)


def _named_parts(place: SourcePlace) -> tuple[str, ...]:
    """The names of the navigation steps: `{[Name="db"]}`, `{[Schema="dbo", Item="Sales"]}` → db, dbo, Sales."""
    found: list[str] = []
    for step in place.steps:
        if step.get("Schema"):
            found += step["Schema"].split(".") if "Item" in step and "." in step["Schema"] else [step["Schema"]]
        name = step.get("Item") or step.get("Name") or step.get("Id")
        if name:
            found.append(name)
    return tuple(found)


def _argument(place: SourcePlace, position: int) -> str:
    return place.arguments[position] if position < len(place.arguments) else ""


def _database_table(place: SourcePlace) -> SourceAddress:
    server, database = _argument(place, 0).replace(",", ":"), _argument(place, 1)
    url = DATABASES[place.connector].url.format(server or "unknown", database)
    parts = _named_parts(place) or ("unknown",)
    source = Source(SourceKind.JDBC, "jdbc", options=(("url", url),))
    name = qualified_table_name(_without_database(parts, database), source, _NO_CONTEXT)
    return SourceAddress(name, parts if not database or parts[0] == database else (database, *parts))


def _without_database(parts: tuple[str, ...], database: str) -> tuple[str, ...]:
    """MySQL's schema is its database: `{[Schema="shop", Item="orders"]}` in the database shop."""
    return parts[1:] if len(parts) > 1 and database and parts[0] == database else parts


def _databricks(place: SourcePlace) -> SourceAddress:
    parts = _named_parts(place) or ("unknown",)
    host = re.sub(r"^https?://", "", _argument(place, 0)).split("/")[0].lower()
    return SourceAddress(DatasetName(f"unitycatalog://{host or 'unknown'}", ".".join(parts)), parts)


def _bigquery(place: SourcePlace) -> SourceAddress:
    parts = _named_parts(place) or ("unknown",)
    return SourceAddress(DatasetName("bigquery", ".".join(parts)), parts)


def _fabric_table(place: SourcePlace) -> SourceAddress:
    """A table of a lakehouse or warehouse, by its folder in OneLake, as Spark in Fabric names it."""
    keys = {key.lower(): value for step in place.steps for key, value in step.items()}
    workspace = keys.get("workspaceid") or keys.get("workspacename") or "unknown"
    item = keys.get("lakehouseid") or keys.get("lakehousename") or keys.get("warehouseid") or keys.get("warehousename")
    table = keys.get("item") or keys.get("id") or keys.get("name") or "unknown"
    schema = keys.get("schema", "")
    return onelake_table(workspace, item or "unknown", schema, table)


def onelake_table(workspace: str, item: str, schema: str, table: str) -> SourceAddress:
    """A table by its folder: `abfss://{workspace}@onelake.dfs.fabric.microsoft.com/{item}/Tables/{schema}/{table}`."""
    folder = "/".join(part for part in ("Tables", schema, table) if part)
    path = f"abfss://{workspace}@onelake.dfs.fabric.microsoft.com/{item}/{folder}"
    return SourceAddress(name_of_path(path, _NO_CONTEXT), tuple(part for part in (schema, table) if part))


def entity_address(place: SourcePlace | None, schema: str, entity: str) -> SourceAddress:
    """The table that a Direct Lake partition reads, through the expression that connects to its source."""
    if place is None:
        return SourceAddress(DatasetName("fabric", ".".join(part for part in (schema, entity) if part)), (entity,))
    if place.connector in FILES:  # Direct Lake on OneLake: https://onelake…/workspace/lakehouse
        parts = [part for part in urlsplit(_argument(place, 0)).path.split("/") if part]
        if len(parts) >= 2:
            return onelake_table(parts[0], parts[1], schema, entity)
    return source_address(place.step({"Schema": schema, "Item": entity}))


def _file(place: SourcePlace) -> SourceAddress:
    """A file or folder; the steps of a navigation are names below it."""
    root = _argument(place, 0)
    names = [step.get("Name") or step.get("Item") or step.get("Id") or "" for step in place.steps]
    path = "/".join([root.rstrip("/\\") or "unknown", *(name.strip("/") for name in names if name)])
    return SourceAddress(name_of_path(storage_path(path), _NO_CONTEXT) if _is_storage(path) else _web_page(path))


def _is_storage(path: str) -> bool:
    return not path.lower().startswith(("http:", "https:")) or storage_path(path) != path


_STORAGE_HOST = re.compile(
    r"(?i)^https?://([^/]+\.(?:dfs|blob)\.(?:core\.windows\.net|fabric\.microsoft\.com))/([^/?]+)(.*)$"
)


def storage_path(url: str) -> str:
    """`https://account.dfs.core.windows.net/container/a` → `abfss://container@account.dfs.core.windows.net/a`."""
    found = _STORAGE_HOST.match(url)
    if found is None:
        return url
    host, container, rest = found.groups()
    scheme = "wasbs" if ".blob." in host.lower() else "abfss"
    return f"{scheme}://{unquote(container)}@{host.lower()}{unquote(rest.split('?')[0])}"


def _web_page(url: str) -> DatasetName:
    """A page by its address without user, parameters and fragment, which may contain secrets."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    return DatasetName(f"{parts.scheme.lower()}://{host}", unquote(parts.path).strip("/") or "/")


def _unknown_source(place: SourcePlace) -> SourceAddress:
    """A source that is known only by the function that opens it."""
    parts = _named_parts(place)
    kind = place.connector.split(".", maxsplit=1)[0].lower()
    return SourceAddress(DatasetName(kind, "/".join(parts) or place.connector))


_RULES: dict[str, Callable[[SourcePlace], SourceAddress]] = {
    "Databricks.Catalogs": _databricks,
    "DatabricksMultiCloud.Catalogs": _databricks,
    "Databricks.Query": _databricks,
    "GoogleBigQuery.Database": _bigquery,
    "Lakehouse.Contents": _fabric_table,
    "Fabric.Warehouse": _fabric_table,
}
