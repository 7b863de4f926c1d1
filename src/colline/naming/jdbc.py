"""JDBC urls → namespace and table names. Credentials and parameters of a url never reach a name.

A url that fits no rule is still named, by its scheme and whatever stands before the first parameter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from colline.naming.dataset import DatasetKind, NameContext, Named
from colline.naming.jdbc_queries import Fold, split_identifier, tables_of
from colline.plan.source import Source
from colline.trace import DatasetName


@dataclass(frozen=True, slots=True)
class Place:
    """Where a url leads: a host or a file, and the database a bare table name belongs to."""

    namespace: str
    database: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one database writes its urls and completes its names."""

    namespace: str
    port: str = ""
    levels: int = 3  # parts of a full name: database.schema.table, or database.table
    schema: str = ""  # the schema of a bare table name, where the database has a fixed one
    fold: Fold = Fold.NONE  # what the database does to an identifier without quotes
    database_keys: tuple[str, ...] = ("databasename", "database")
    schema_keys: tuple[str, ...] = ("currentschema",)
    sqlglot: str = ""


# sub-protocol of a url (`jdbc:<this>:…`) → dialect
DIALECTS: dict[str, Dialect] = {
    "postgresql": Dialect("postgres", "5432", schema="public", fold=Fold.LOWER, sqlglot="postgres"),
    "pgsql": Dialect("postgres", "5432", schema="public", fold=Fold.LOWER, sqlglot="postgres"),
    "redshift": Dialect("redshift", "5439", schema="public", fold=Fold.LOWER, sqlglot="redshift"),
    "mysql": Dialect("mysql", "3306", levels=2, sqlglot="mysql"),
    "mariadb": Dialect("mysql", "3306", levels=2, sqlglot="mysql"),
    "sqlserver": Dialect("sqlserver", "1433", schema="dbo", sqlglot="tsql"),
    "jtds:sqlserver": Dialect("sqlserver", "1433", schema="dbo", sqlglot="tsql"),
    "oracle": Dialect("oracle", "1521", fold=Fold.UPPER, sqlglot="oracle"),
    "db2": Dialect("db2", "50000", fold=Fold.UPPER),
    "snowflake": Dialect(
        "snowflake",
        schema="PUBLIC",
        fold=Fold.UPPER,
        database_keys=("db", "database"),
        schema_keys=("schema",),
        sqlglot="snowflake",
    ),
    "teradata": Dialect("teradata", "1025", levels=2, sqlglot="teradata"),
    "clickhouse": Dialect("clickhouse", "8123", levels=2, sqlglot="clickhouse"),
    "ch": Dialect("clickhouse", "8123", levels=2, sqlglot="clickhouse"),
    "trino": Dialect("trino", "443", fold=Fold.LOWER, sqlglot="trino"),
    "presto": Dialect("presto", "443", fold=Fold.LOWER, sqlglot="presto"),
    "hive2": Dialect("hive", "10000", levels=2, fold=Fold.LOWER, sqlglot="hive"),
    "crate": Dialect("crate", "5432", schema="doc", fold=Fold.LOWER, sqlglot="postgres"),
    "oceanbase": Dialect("oceanbase", "2881", levels=2, sqlglot="mysql"),
    "cassandra": Dialect("cassandra", "9042", levels=2, fold=Fold.LOWER),
    "sap": Dialect("sap", "30015", fold=Fold.UPPER, schema_keys=("currentschema",)),
    "vertica": Dialect("vertica", "5433", schema="public"),
    "exa": Dialect("exa", "8563", levels=2, fold=Fold.UPPER),
    "derby": Dialect("derby", "1527", levels=2, fold=Fold.UPPER),
    "h2": Dialect("h2", "9092", levels=2, schema="PUBLIC", fold=Fold.UPPER),
    "hsqldb": Dialect("hsqldb", "9001", levels=2, schema="PUBLIC", fold=Fold.UPPER),
    "sqlite": Dialect("sqlite", levels=1, sqlglot="sqlite"),
    "duckdb": Dialect("duckdb", levels=2, schema="main", sqlglot="duckdb"),
}
_UNKNOWN = Dialect("", levels=2)


def names_of_jdbc(source: Source, context: NameContext) -> tuple[Named, ...]:
    """The tables a JDBC relation reads or writes; a subquery gives every table it names."""
    place, dialect = _place(source, context)
    found = [_named(table, place, dialect) for table in _tables(source, dialect)]
    return tuple(dict.fromkeys(found)) or (_named(("query",), place, dialect),)


def query_of(source: Source) -> tuple[str, str, Fold] | None:
    """The text, dialect and letters of a JDBC source that is a query rather than a table."""
    url = source.option("url") or ""
    if not url.lower().startswith("jdbc:"):
        return None
    dialect = DIALECTS.get(_sub_protocol(url)[0], _UNKNOWN)
    text = (source.option("dbtable") or source.option("query") or "").strip()
    return None if not text or split_identifier(text, dialect.fold) else (text, dialect.sqlglot, dialect.fold)


def table_name(table: tuple[str, ...], source: Source, context: NameContext) -> DatasetName:
    """The full name of a table that a source's query reads."""
    place, dialect = _place(source, context)
    return _named(table, place, dialect).name


def _place(source: Source, context: NameContext) -> tuple[Place, Dialect]:
    scheme, rest = _sub_protocol(source.option("url") or "")
    dialect = DIALECTS.get(scheme, _UNKNOWN)
    return _PLACES.get(scheme, _host_place)(rest, scheme, dialect, context), dialect


def _tables(source: Source, dialect: Dialect) -> tuple[tuple[str, ...], ...]:
    text = (source.option("dbtable") or source.option("query") or "").strip()
    if not text and source.table:
        return (source.table[-2:] if dialect.levels > 1 else source.table[-1:],)
    simple = split_identifier(text, dialect.fold)
    return (simple,) if simple else tables_of(text, dialect.sqlglot, dialect.fold)


def _named(table: tuple[str, ...], place: Place, dialect: Dialect) -> Named:
    """The full name: what the table says, completed from the left by the url's database and the fixed schema."""
    parts = list(table)
    schema = next((place.parameters[key] for key in dialect.schema_keys if place.parameters.get(key)), dialect.schema)
    if len(parts) == 1 and schema and (dialect.levels == 3 or not place.database):
        parts.insert(0, schema.split(",")[0])
    if place.database and len(parts) < dialect.levels:
        parts.insert(0, place.database)
    return Named(DatasetName(place.namespace, ".".join(parts)), kind=DatasetKind.JDBC)


def _sub_protocol(url: str) -> tuple[str, str]:
    """`jdbc:mysql:loadbalance://a,b/x` → `mysql`, `//a,b/x`; the rest keeps no driver words."""
    text = re.sub(r"^jdbc:", "", url.strip(), flags=re.IGNORECASE)
    scheme, _, rest = text.partition(":")
    scheme = scheme.lower().split("+")[0]
    if scheme == "jtds":
        kind, _, rest = rest.partition(":")
        scheme = f"jtds:{kind.lower()}"
    return scheme, rest


def _host_place(rest: str, scheme: str, dialect: Dialect, _context: NameContext) -> Place:
    """`//user:secret@host:1/db?a=b` → `scheme://host:1`, db. Of several hosts the first one names the server."""
    body, parameters = _parameters(re.sub(r"^[\w+:]*(?=//)", "", rest))
    if not body.startswith("//"):
        bare = f"{dialect.namespace or scheme}:{body.rpartition('@')[2]}"
        return Place(bare.strip(":") or "jdbc", parameters=parameters)
    authority, _, path = body[2:].partition("/")
    if authority.startswith("(") or authority.startswith("address="):
        authority = _address(authority)
    host = _with_port(authority.rpartition("@")[2].split(",")[0].strip().lower(), dialect.port)
    database = path.strip("/") or next((parameters[key] for key in dialect.database_keys if parameters.get(key)), "")
    return Place(f"{dialect.namespace or scheme}://{host}", database, parameters)


def _address(text: str) -> str:
    """MySQL's long form: `address=(host=a)(port=1)` or `(host=a,port=1)`."""
    host = re.search(r"host=([^,)]+)", text, re.IGNORECASE)
    port = re.search(r"port=(\d+)", text, re.IGNORECASE)
    return (host.group(1) if host else "") + (f":{port.group(1)}" if port else "")


def _with_port(host: str, port: str) -> str:
    has_port = re.search(r":\d+$", host) and (not host.startswith("[") or "]:" in host)
    return host if has_port or not port else f"{host}:{port}"


def _parameters(rest: str) -> tuple[str, dict[str, str]]:
    """What stands before the first parameter, and the parameters with lower-case keys."""
    match = re.search(r"[?;]", rest)
    if not match:
        return rest, {}
    pairs = (pair.partition("=") for pair in re.split(r"[;&?]", rest[match.end() :]) if "=" in pair)
    return rest[: match.start()], {key.strip().lower(): value.strip() for key, _, value in pairs}


def _sqlserver_place(rest: str, _scheme: str, dialect: Dialect, _context: NameContext) -> Place:
    r"""`//host\instance:1433/db;databaseName=db` → `sqlserver://host:1433` (an instance only without a port)."""
    body, parameters = _parameters(rest)
    authority, _, path = body.removeprefix("//").partition("/")
    authority = (authority or parameters.get("servername", "")).rpartition("@")[2]
    host, _, tail = authority.partition("\\")
    instance, _, port = tail.partition(":")
    if not instance:
        host, _, port = host.partition(":")
        instance = parameters.get("instancename", "") or parameters.get("instance", "")
    port = port or parameters.get("portnumber", "") or parameters.get("port", "")
    named = f"/{instance}" if instance and not port else ""
    database = parameters.get("databasename") or parameters.get("database") or path
    return Place(f"sqlserver://{host.lower()}:{port or dialect.port}{named}", database, parameters)


def _oracle_place(rest: str, _scheme: str, dialect: Dialect, _context: NameContext) -> Place:
    """`thin:@//host:1521/service`, `thin:@host:1521:sid` or TNS → `oracle://host:1521`, service or sid."""
    body = rest.partition("@")[2] or rest
    body = rest.rpartition("@")[2] if "@" in body and "(" not in body else body
    if "(" in body:
        service = re.search(r"(?:SERVICE_NAME|SID)\s*=\s*([^)\s]+)", body, re.IGNORECASE)
        host = _with_port(_address(re.sub(r"\s", "", body)).lower(), dialect.port)
        return Place(f"oracle://{host}", service.group(1) if service else "")
    body = re.sub(r"^(tcps?:|ldaps?:)?/*", "", _parameters(body)[0], flags=re.IGNORECASE).split(",")[0]
    match = re.match(r"^(\[[^\]]*\]|[^:/]+)(?::(\d+))?(?:[:/](.+))?$", body)
    if not match:
        return Place("oracle")
    host, port, service_name = match.groups()
    return Place(f"oracle://{host.lower()}:{port or dialect.port}", (service_name or "").split(":")[0])


def _db2_place(rest: str, scheme: str, dialect: Dialect, context: NameContext) -> Place:
    """`//host/DB:user=etl;password=…;` → `db2://host:50000`, DB: its parameters begin with a colon."""
    return _host_place(re.sub(r"(/[^/:]+):", r"\1;", rest, count=1), scheme, dialect, context)


def _trino_place(rest: str, scheme: str, dialect: Dialect, context: NameContext) -> Place:
    """`//host:8080/catalog/schema` → `trino://host:8080`, catalog, with the schema of a bare name."""
    place = _host_place(rest, scheme, dialect, context)
    catalog, _, schema = place.database.partition("/")
    return replace(place, database=catalog, parameters={**place.parameters, "currentschema": schema})


_REDSHIFT = re.compile(r"^redshift://([^.]+)\.[^.]+\.([^.]+)\.redshift(?:-serverless)?\.amazonaws\.com(:\d+)$")


def _redshift_place(rest: str, scheme: str, dialect: Dialect, context: NameContext) -> Place:
    """`//shop.x1.eu-west-1.redshift.amazonaws.com/db` → `redshift://shop.eu-west-1:5439`, whoever's account it is."""
    place = _host_place(rest, scheme, dialect, context)
    match = re.match(
        r"^redshift://([^.]+)\.[^.]+\.([^.]+)\.redshift(?:-serverless)?\.amazonaws\.com(:\d+)$", place.namespace
    )
    return replace(place, namespace="redshift://{}.{}{}".format(*match.groups())) if match else place


def _snowflake_place(rest: str, _scheme: str, _dialect: Dialect, _context: NameContext) -> Place:
    """`//org-account.snowflakecomputing.com/?db=A&schema=B` → `snowflake://org-account`, A."""
    body, parameters = _parameters(rest)
    host = body.removeprefix("//").split("/")[0].rpartition("@")[2]
    return Place(f"snowflake://{snowflake_account(host)}", parameters.get("db", "").upper(), parameters)


def snowflake_account(host: str) -> str:
    """A Snowflake host or url without its domain and port: the account's name."""
    bare = re.sub(r"^https?://", "", host.strip().lower()).split("/")[0].split(":")[0]
    return bare.removesuffix(".snowflakecomputing.com").removesuffix(".snowflakecomputing.cn")


def _teradata_place(rest: str, _scheme: str, dialect: Dialect, _context: NameContext) -> Place:
    """`//host/DATABASE=sales,DBS_PORT=1025` → `teradata://host:1025`, sales."""
    host, _, tail = rest.removeprefix("//").partition("/")
    pairs = (pair.partition("=") for pair in tail.split(",") if "=" in pair)
    parameters = {key.strip().lower(): value for key, _, value in pairs}
    port = parameters.get("dbs_port", dialect.port)
    return Place(f"teradata://{_with_port(host.lower(), port)}", parameters.get("database", ""), parameters)


def _embedded_place(rest: str, scheme: str, dialect: Dialect, context: NameContext) -> Place:
    """A database that is a file: `derby:/data/shop;create=true` → `file:/data/shop`, as OpenLineage's listener does."""
    if ("//" in rest and not rest.startswith(("file:", "/"))) or rest.startswith("//"):
        return _host_place(re.sub(r"^\w+:(?=//)", "", rest), scheme, dialect, context)
    body, parameters = _parameters(rest)
    where = re.sub(r"^(directory|file):", "", body) or parameters.get("databasename", "")
    if scheme != "derby":
        return Place(f"{scheme}:{where}", parameters=parameters)
    if re.match(r"^(memory|classpath|jar):", where):
        return Place(f"derby:{where}", parameters=parameters)
    base = context.derby_home or context.working_directory
    whole = where if where.startswith("/") or not base else f"{base.rstrip('/')}/{where}"
    return Place(f"file:{whole}", parameters=parameters)


_PLACES: dict[str, Callable[[str, str, Dialect, NameContext], Place]] = {
    "sqlserver": _sqlserver_place,
    "jtds:sqlserver": _sqlserver_place,
    "oracle": _oracle_place,
    "db2": _db2_place,
    "trino": _trino_place,
    "presto": _trino_place,
    "redshift": _redshift_place,
    "snowflake": _snowflake_place,
    "teradata": _teradata_place,
    "derby": _embedded_place,
    "h2": _embedded_place,
    "hsqldb": _embedded_place,
    "sqlite": _embedded_place,
    "duckdb": _embedded_place,
}
