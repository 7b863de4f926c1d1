"""Names in stores with their own connectors: message brokers, warehouses, document stores."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from colline.naming.dataset import DatasetKind, NameContext, NamedDataset
from colline.naming.jdbc import snowflake_account
from colline.plan.source import Source
from colline.trace import DatasetName


def names_of_kafka(source: Source, _context: NameContext) -> tuple[NamedDataset, ...]:
    """One name per topic; a topic pattern is a name too, because the broker is not queried."""
    servers = source.option("kafka.bootstrap.servers") or source.option("bootstrap.servers") or ""
    namespace = f"kafka://{first_server(servers)}" if servers else "kafka"
    return tuple(NamedDataset(DatasetName(namespace, topic), kind=DatasetKind.TOPIC) for topic in _topics(source))


def first_server(servers: str) -> str:
    """`SASL_SSL://b1:9093,b2:9093` → `b1:9093`; the default port is 9092."""
    first = re.sub(r"^[A-Za-z_]+://", "", servers.split(",", maxsplit=1)[0].strip()).lower()
    return first if re.search(r":\d+$", first) else f"{first}:9092"


def _topics(source: Source) -> tuple[str, ...]:
    topics = source.option("topic") or source.option("subscribe")
    if topics:
        return tuple(dict.fromkeys(topic.strip() for topic in topics.split(",") if topic.strip()))
    return _assigned_topics(source.option("assign")) or (source.option("subscribePattern") or "unknown",)


def _assigned_topics(text: str | None) -> tuple[str, ...]:
    """`{"orders": [0, 1]}` → orders."""
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return ()
    return tuple(found) if isinstance(found, dict) else ()


def _bigquery(source: Source) -> NamedDataset | None:
    table = (source.option("table") or source.option("dbtable") or source.option("path") or "").replace(":", ".")
    if not table:
        return None
    parts = table.strip("`").split(".")
    if len(parts) == 1 and source.option("dataset"):
        parts.insert(0, source.option("dataset") or "")
    project = source.option("project") or source.option("parentProject")
    if len(parts) == 2 and project:
        parts.insert(0, project)
    return _dataset("bigquery", ".".join(parts))


def _snowflake(source: Source) -> NamedDataset | None:
    account = snowflake_account(source.option("sfURL") or source.option("sfAccount") or "")
    table = (source.option("dbtable") or "").replace('"', "")
    parts = [part for part in table.split(".") if part]
    for option in ("sfSchema", "sfDatabase"):
        if 0 < len(parts) < 3 and source.option(option):
            parts.insert(0, source.option(option) or "")
    return _dataset(f"snowflake://{account}", ".".join(part.upper() for part in parts)) if account and parts else None


def _cosmos(source: Source) -> NamedDataset | None:
    endpoint = source.option("spark.cosmos.accountEndpoint") or source.option("Endpoint")
    database = source.option("spark.cosmos.database") or source.option("Database")
    container = source.option("spark.cosmos.container") or source.option("Collection")
    if not (endpoint and container):
        return None
    return _dataset(f"azurecosmos://{_host(endpoint)}/dbs/{database or ''}", f"colls/{container}")


def _kusto(source: Source) -> NamedDataset | None:
    cluster, table = source.option("kustoCluster"), source.option("kustoTable")
    if not (cluster and table):
        return None
    host = _host(cluster)
    host = host if "." in host else f"{host}.kusto.windows.net"
    return _dataset(f"azurekusto://{host}", f"{source.option('kustoDatabase') or ''}/{table}")


def _event_hubs(source: Source) -> NamedDataset | None:
    """The endpoint and the entity of a connection string, without its key."""
    text = source.option("eventhubs.connectionString") or ""
    host = re.search(r"Endpoint=\w+://([^/;]+)", text)
    entity = re.search(r"EntityPath=([^;]+)", text) or re.search(r"^(.+)$", source.option("eventhubs.name") or "")
    if not (host and entity):
        return None
    return _dataset(f"eventhubs://{host.group(1).lower()}", entity.group(1), DatasetKind.TOPIC)


def _cassandra(source: Source) -> NamedDataset | None:
    table = source.option("table")
    host = (source.option("spark.cassandra.connection.host") or "localhost").split(",")[0].strip().lower()
    port = source.option("spark.cassandra.connection.port") or "9042"
    return _dataset(f"cassandra://{host}:{port}", f"{source.option('keyspace') or ''}.{table}") if table else None


def _mongodb(source: Source) -> NamedDataset | None:
    uri = source.option("connection.uri") or source.option("spark.mongodb.read.connection.uri") or ""
    match = re.match(r"^mongodb(?:\+srv)?://(?:[^@/]*@)?([^/,?]+)[^/?]*/?([^?.]*)", uri)
    collection = source.option("collection")
    if not (match and collection):
        return None
    host = match.group(1).lower()
    host = host if ":" in host or "+srv" in uri else f"{host}:27017"
    return _dataset(f"mongodb://{host}", f"{source.option('database') or match.group(2)}.{collection}")


def _elasticsearch(source: Source) -> NamedDataset | None:
    index = source.option("es.resource") or source.option("path")
    node = _host((source.option("es.nodes") or "localhost").split(",")[0])
    host = node if ":" in node else f"{node}:{source.option('es.port') or '9200'}"
    return _dataset(f"elasticsearch://{host}", index.strip("/")) if index else None


def _kinesis(source: Source) -> NamedDataset | None:
    stream = source.option("streamName")
    region = source.option("region") or _host(source.option("endpointUrl") or "").split(".")[1:2] or "unknown"
    where = region if isinstance(region, str) else region[0]
    return _dataset(f"kinesis://{where}", stream, DatasetKind.TOPIC) if stream else None


def _pubsub(source: Source) -> NamedDataset | None:
    project, topic = source.option("projectId"), source.option("topicId")
    subscription = source.option("subscriptionId")
    if not project or not (topic or subscription):
        return None
    resource = f"topic:{project}:{topic}" if topic else f"subscription:{project}:{subscription}"
    return _dataset("pubsub", resource, DatasetKind.TOPIC)


def _host(url: str) -> str:
    """`https://user@Host:1/path?x=1` → `host:1`."""
    return re.sub(r"^\w+://", "", url.strip()).split("/")[0].split("?")[0].rpartition("@")[2].lower()


def _dataset(namespace: str, name: str, kind: DatasetKind = DatasetKind.TABLE) -> NamedDataset:
    return NamedDataset(DatasetName(namespace, name), kind=kind)


# provider, as a short name or a class without `.DefaultSource`, in lower case → rule
STORES: dict[str, Callable[[Source], NamedDataset | None]] = {
    "bigquery": _bigquery,
    "com.google.cloud.spark.bigquery": _bigquery,
    "snowflake": _snowflake,
    "net.snowflake.spark.snowflake": _snowflake,
    "cosmos.oltp": _cosmos,
    "cosmos.olap": _cosmos,
    "com.microsoft.azure.cosmosdb.spark": _cosmos,
    "kusto": _kusto,
    "com.microsoft.kusto.spark.datasource": _kusto,
    "com.microsoft.kusto.spark.synapse.datasource": _kusto,
    "eventhubs": _event_hubs,
    "org.apache.spark.eventhubs": _event_hubs,
    "org.apache.spark.sql.cassandra": _cassandra,
    "mongodb": _mongodb,
    "mongo": _mongodb,
    "org.elasticsearch.spark.sql": _elasticsearch,
    "es": _elasticsearch,
    "kinesis": _kinesis,
    "aws-kinesis": _kinesis,
    "pubsub": _pubsub,
}


def name_in_store(source: Source) -> NamedDataset | None:
    """The dataset of a source whose provider has a rule; None if options are missing."""
    rule = STORES.get(source.provider.lower().removesuffix(".defaultsource"))
    return rule(source) if rule else None
