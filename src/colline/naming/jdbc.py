"""Names of JDBC tables, from the URL and the table. Credentials and parameters of a URL never become part of a name.

A URL of an unknown database is named by its scheme and the part before the first parameter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from colline.naming.dataset import DatasetKind, NameContext, NamedDataset
from colline.naming.jdbc_queries import IdentifierCase, JdbcQuery, Table, query_tables, split_identifier
from colline.plan.source import Source
from colline.trace import DatasetName

_LOWER, _UPPER = IdentifierCase.LOWER, IdentifierCase.UPPER


@dataclass(frozen=True, slots=True)
class JdbcLocation:
    """The server or file of a URL, and the database of tables that are named without one."""

    namespace: str
    database: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one database writes its URLs and qualifies its table names."""

    namespace: str
    port: str = ""
    levels: int = 3  # parts of a qualified name: 3 for database.schema.table, 2 for database.table
    schema: str = ""  # default schema
    identifier_case: IdentifierCase = IdentifierCase.UNCHANGED
    database_keys: tuple[str, ...] = ("databasename", "database")
    schema_keys: tuple[str, ...] = ("currentschema",)
    sqlglot: str = ""  # name of the dialect in sqlglot


# sub-protocol, the second part of `jdbc:postgresql://…` → dialect
DIALECTS: dict[str, Dialect] = {
    "postgresql": Dialect("postgres", "5432", schema="public", identifier_case=_LOWER, sqlglot="postgres"),
    "pgsql": Dialect("postgres", "5432", schema="public", identifier_case=_LOWER, sqlglot="postgres"),
    "redshift": Dialect("redshift", "5439", schema="public", identifier_case=_LOWER, sqlglot="redshift"),
    "mysql": Dialect("mysql", "3306", levels=2, sqlglot="mysql"),
    "mariadb": Dialect("mysql", "3306", levels=2, sqlglot="mysql"),
    "sqlserver": Dialect("sqlserver", "1433", schema="dbo", sqlglot="tsql"),
    "jtds:sqlserver": Dialect("sqlserver", "1433", schema="dbo", sqlglot="tsql"),
    "oracle": Dialect("oracle", "1521", identifier_case=_UPPER, sqlglot="oracle"),
    "db2": Dialect("db2", "50000", identifier_case=_UPPER),
    "snowflake": Dialect(
        "snowflake",
        schema="PUBLIC",
        identifier_case=_UPPER,
        database_keys=("db", "database"),
        schema_keys=("schema",),
        sqlglot="snowflake",
    ),
    "teradata": Dialect("teradata", "1025", levels=2, sqlglot="teradata"),
    "clickhouse": Dialect("clickhouse", "8123", levels=2, sqlglot="clickhouse"),
    "ch": Dialect("clickhouse", "8123", levels=2, sqlglot="clickhouse"),
    "trino": Dialect("trino", "443", identifier_case=_LOWER, sqlglot="trino"),
    "presto": Dialect("presto", "443", identifier_case=_LOWER, sqlglot="presto"),
    "hive2": Dialect("hive", "10000", levels=2, identifier_case=_LOWER, sqlglot="hive"),
    "crate": Dialect("crate", "5432", schema="doc", identifier_case=_LOWER, sqlglot="postgres"),
    "oceanbase": Dialect("oceanbase", "2881", levels=2, sqlglot="mysql"),
    "cassandra": Dialect("cassandra", "9042", levels=2, identifier_case=_LOWER),
    "sap": Dialect("sap", "30015", identifier_case=_UPPER, schema_keys=("currentschema",)),
    "vertica": Dialect("vertica", "5433", schema="public"),
    "exa": Dialect("exa", "8563", levels=2, identifier_case=_UPPER),
    "derby": Dialect("derby", "1527", levels=2, identifier_case=_UPPER),
    "h2": Dialect("h2", "9092", levels=2, schema="PUBLIC", identifier_case=_UPPER),
    "hsqldb": Dialect("hsqldb", "9001", levels=2, schema="PUBLIC", identifier_case=_UPPER),
    "sqlite": Dialect("sqlite", levels=1, sqlglot="sqlite"),
    "duckdb": Dialect("duckdb", levels=2, schema="main", sqlglot="duckdb"),
}
_UNKNOWN = Dialect("", levels=2)


def names_of_jdbc(source: Source, context: NameContext) -> tuple[NamedDataset, ...]:
    """The table that a JDBC source reads or writes, or every table of its query."""
    location, dialect = _locate(source, context)
    found = [_name_table(table, location, dialect) for table in _tables(source, dialect)]
    return tuple(dict.fromkeys(found)) or (_name_table(("query",), location, dialect),)


def jdbc_query(source: Source) -> JdbcQuery | None:
    """The query of a JDBC source; None if it reads a table, or is not a JDBC source."""
    url = source.option("url") or ""
    if not url.lower().startswith("jdbc:"):
        return None
    dialect = DIALECTS.get(_sub_protocol(url)[0], _UNKNOWN)
    text = _table_or_query(source)
    is_table = not text or split_identifier(text, dialect.identifier_case)
    return None if is_table else JdbcQuery(text, dialect.sqlglot, dialect.identifier_case)


def qualified_table_name(table: Table, source: Source, context: NameContext) -> DatasetName:
    """The name of a table in the query of a JDBC source."""
    location, dialect = _locate(source, context)
    return _name_table(table, location, dialect).name


def _locate(source: Source, context: NameContext) -> tuple[JdbcLocation, Dialect]:
    scheme, rest = _sub_protocol(source.option("url") or "")
    dialect = DIALECTS.get(scheme, _UNKNOWN)
    return _LOCATION_PARSERS.get(scheme, _host_location)(rest, scheme, dialect, context), dialect


def _table_or_query(source: Source) -> str:
    return (source.option("dbtable") or source.option("query") or "").strip()


def _tables(source: Source, dialect: Dialect) -> tuple[Table, ...]:
    text = _table_or_query(source)
    if not text and source.table:
        return (source.table[-2:] if dialect.levels > 1 else source.table[-1:],)
    table = split_identifier(text, dialect.identifier_case)
    return (table,) if table else query_tables(JdbcQuery(text, dialect.sqlglot, dialect.identifier_case))


def _name_table(table: Table, location: JdbcLocation, dialect: Dialect) -> NamedDataset:
    """`orders` in `jdbc:postgresql://h/shop` → `shop.public.orders`."""
    parts = list(table)
    parameters = location.parameters
    schema = next((parameters[key] for key in dialect.schema_keys if parameters.get(key)), dialect.schema)
    if len(parts) == 1 and schema and (dialect.levels == 3 or not location.database):
        parts.insert(0, schema.split(",")[0])
    if location.database and len(parts) < dialect.levels:
        parts.insert(0, location.database)
    return NamedDataset(DatasetName(location.namespace, ".".join(parts)), kind=DatasetKind.JDBC)


def _sub_protocol(url: str) -> tuple[str, str]:
    """`jdbc:mysql://h/x` → `mysql`, `//h/x`; `jdbc:jtds:sqlserver://h/x` → `jtds:sqlserver`, `//h/x`."""
    text = re.sub(r"^jdbc:", "", url.strip(), flags=re.IGNORECASE)
    scheme, _, rest = text.partition(":")
    scheme = scheme.lower().split("+")[0]
    if scheme == "jtds":
        kind, _, rest = rest.partition(":")
        scheme = f"jtds:{kind.lower()}"
    return scheme, rest


def _host_location(rest: str, scheme: str, dialect: Dialect, _context: NameContext) -> JdbcLocation:
    """`//user:secret@host:1/db?a=b` → `scheme://host:1`, db. Of several hosts, the first is the server."""
    body, parameters = _split_parameters(re.sub(r"^[\w+:]*(?=//)", "", rest))
    if not body.startswith("//"):
        bare = f"{dialect.namespace or scheme}:{body.rpartition('@')[2]}"
        return JdbcLocation(bare.strip(":") or "jdbc", parameters=parameters)
    authority, _, path = body[2:].partition("/")
    if authority.startswith("(") or authority.startswith("address="):
        authority = _host_of_address(authority)
    host = _with_port(authority.rpartition("@")[2].split(",")[0].strip().lower(), dialect.port)
    database = path.strip("/") or next((parameters[key] for key in dialect.database_keys if parameters.get(key)), "")
    return JdbcLocation(f"{dialect.namespace or scheme}://{host}", database, parameters)


def _host_of_address(text: str) -> str:
    """`address=(host=a)(port=1)`, `(host=a,port=1)` → `a:1`."""
    host = re.search(r"host=([^,)]+)", text, re.IGNORECASE)
    port = re.search(r"port=(\d+)", text, re.IGNORECASE)
    return (host.group(1) if host else "") + (f":{port.group(1)}" if port else "")


def _with_port(host: str, port: str) -> str:
    has_port = re.search(r":\d+$", host) and (not host.startswith("[") or "]:" in host)
    return host if has_port or not port else f"{host}:{port}"


def _split_parameters(rest: str) -> tuple[str, dict[str, str]]:
    """`//h/db?User=etl` → `//h/db`, `{"user": "etl"}`."""
    match = re.search(r"[?;]", rest)
    if not match:
        return rest, {}
    pairs = (pair.partition("=") for pair in re.split(r"[;&?]", rest[match.end() :]) if "=" in pair)
    return rest[: match.start()], {key.strip().lower(): value.strip() for key, _, value in pairs}


def _sqlserver_location(rest: str, _scheme: str, dialect: Dialect, _context: NameContext) -> JdbcLocation:
    r"""`//host:1433;databaseName=db` → `sqlserver://host:1433`, db; `//host\i1` → `sqlserver://host:1433/i1`."""
    body, parameters = _split_parameters(rest)
    authority, _, path = body.removeprefix("//").partition("/")
    authority = (authority or parameters.get("servername", "")).rpartition("@")[2]
    host, _, tail = authority.partition("\\")
    instance, _, port = tail.partition(":")
    if not instance:
        host, _, port = host.partition(":")
        instance = parameters.get("instancename", "") or parameters.get("instance", "")
    port = port or parameters.get("portnumber", "") or parameters.get("port", "")
    suffix = f"/{instance}" if instance and not port else ""
    database = parameters.get("databasename") or parameters.get("database") or path
    return JdbcLocation(f"sqlserver://{host.lower()}:{port or dialect.port}{suffix}", database, parameters)


def _oracle_location(rest: str, _scheme: str, dialect: Dialect, _context: NameContext) -> JdbcLocation:
    """`thin:@//host:1521/service`, `thin:@host:1521:sid` or TNS → `oracle://host:1521`, service or sid."""
    body = rest.partition("@")[2] or rest
    body = rest.rpartition("@")[2] if "@" in body and "(" not in body else body
    if "(" in body:
        service = re.search(r"(?:SERVICE_NAME|SID)\s*=\s*([^)\s]+)", body, re.IGNORECASE)
        host = _with_port(_host_of_address(re.sub(r"\s", "", body)).lower(), dialect.port)
        return JdbcLocation(f"oracle://{host}", service.group(1) if service else "")
    body = re.sub(r"^(tcps?:|ldaps?:)?/*", "", _split_parameters(body)[0], flags=re.IGNORECASE).split(",")[0]
    match = re.match(r"^(\[[^\]]*\]|[^:/]+)(?::(\d+))?(?:[:/](.+))?$", body)
    if not match:
        return JdbcLocation("oracle")
    host, port, service_name = match.groups()
    return JdbcLocation(f"oracle://{host.lower()}:{port or dialect.port}", (service_name or "").split(":")[0])


def _db2_location(rest: str, scheme: str, dialect: Dialect, context: NameContext) -> JdbcLocation:
    """`//host/DB:user=etl;password=…;` → `db2://host:50000`, DB. A colon starts the parameters."""
    return _host_location(re.sub(r"(/[^/:]+):", r"\1;", rest, count=1), scheme, dialect, context)


def _trino_location(rest: str, scheme: str, dialect: Dialect, context: NameContext) -> JdbcLocation:
    """`//host:8080/catalog/schema` → `trino://host:8080`, catalog, and the default schema."""
    location = _host_location(rest, scheme, dialect, context)
    catalog, _, schema = location.database.partition("/")
    return replace(location, database=catalog, parameters={**location.parameters, "currentschema": schema})


_REDSHIFT = re.compile(r"^redshift://([^.]+)\.[^.]+\.([^.]+)\.redshift(?:-serverless)?\.amazonaws\.com(:\d+)$")


def _redshift_location(rest: str, scheme: str, dialect: Dialect, context: NameContext) -> JdbcLocation:
    """`//shop.x1.eu-west-1.redshift.amazonaws.com/db` → `redshift://shop.eu-west-1:5439`, without the account."""
    location = _host_location(rest, scheme, dialect, context)
    match = _REDSHIFT.match(location.namespace)
    return replace(location, namespace="redshift://{}.{}{}".format(*match.groups())) if match else location


def _snowflake_location(rest: str, _scheme: str, _dialect: Dialect, _context: NameContext) -> JdbcLocation:
    """`//org-account.snowflakecomputing.com/?db=A&schema=B` → `snowflake://org-account`, A."""
    body, parameters = _split_parameters(rest)
    host = body.removeprefix("//").split("/")[0].rpartition("@")[2]
    return JdbcLocation(f"snowflake://{snowflake_account(host)}", parameters.get("db", "").upper(), parameters)


def snowflake_account(host: str) -> str:
    """`https://org-account.snowflakecomputing.com:443` → `org-account`."""
    bare = re.sub(r"^https?://", "", host.strip().lower()).split("/")[0].split(":")[0]
    return bare.removesuffix(".snowflakecomputing.com").removesuffix(".snowflakecomputing.cn")


def _teradata_location(rest: str, _scheme: str, dialect: Dialect, _context: NameContext) -> JdbcLocation:
    """`//host/DATABASE=sales,DBS_PORT=1025` → `teradata://host:1025`, sales."""
    host, _, tail = rest.removeprefix("//").partition("/")
    pairs = (pair.partition("=") for pair in tail.split(",") if "=" in pair)
    parameters = {key.strip().lower(): value for key, _, value in pairs}
    port = parameters.get("dbs_port", dialect.port)
    return JdbcLocation(f"teradata://{_with_port(host.lower(), port)}", parameters.get("database", ""), parameters)


def _embedded_location(rest: str, scheme: str, dialect: Dialect, context: NameContext) -> JdbcLocation:
    """`/data/shop;create=true` → `file:/data/shop` for Derby, as in OpenLineage's listener, else `h2:/data/shop`."""
    if ("//" in rest and not rest.startswith(("file:", "/"))) or rest.startswith("//"):
        return _host_location(re.sub(r"^\w+:(?=//)", "", rest), scheme, dialect, context)
    body, parameters = _split_parameters(rest)
    where = re.sub(r"^(directory|file):", "", body) or parameters.get("databasename", "")
    if scheme != "derby":
        return JdbcLocation(f"{scheme}:{where}", parameters=parameters)
    if re.match(r"^(memory|classpath|jar):", where):
        return JdbcLocation(f"derby:{where}", parameters=parameters)
    base = context.derby_home or context.working_directory
    whole = where if where.startswith("/") or not base else f"{base.rstrip('/')}/{where}"
    return JdbcLocation(f"file:{whole}", parameters=parameters)


_LOCATION_PARSERS: dict[str, Callable[[str, str, Dialect, NameContext], JdbcLocation]] = {
    "sqlserver": _sqlserver_location,
    "jtds:sqlserver": _sqlserver_location,
    "oracle": _oracle_location,
    "db2": _db2_location,
    "trino": _trino_location,
    "presto": _trino_location,
    "redshift": _redshift_location,
    "snowflake": _snowflake_location,
    "teradata": _teradata_location,
    "derby": _embedded_location,
    "h2": _embedded_location,
    "hsqldb": _embedded_location,
    "sqlite": _embedded_location,
    "duckdb": _embedded_location,
}
