"""The result of naming, `NamedDataset`, and its input, `NameContext`, which is read from a Spark configuration.

No file system and no catalog is accessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from colline.trace import DatasetName

SESSION_CATALOG = "spark_catalog"


class DatasetKind(Enum):
    """The kind of a dataset, as in the `kind` column of the lake."""

    TABLE = "TABLE"
    VIEW = "VIEW"
    FILE = "FILE"
    TOPIC = "TOPIC"
    JDBC = "JDBC"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True, order=True)
class Symlink:
    """Another name of a dataset, such as its name in a catalog."""

    namespace: str
    name: str
    type: str = "TABLE"


@dataclass(frozen=True, slots=True)
class NamedDataset:
    """A dataset with its name, symlinks and kind."""

    name: DatasetName
    symlinks: tuple[Symlink, ...] = ()
    kind: DatasetKind = DatasetKind.OTHER


@dataclass(frozen=True, slots=True)
class SparkCatalog:
    """The configuration of one catalog: `spark.sql.catalog.<name>.*`."""

    name: str
    type: str = ""
    uri: str = ""
    warehouse: str = ""


@dataclass(frozen=True, eq=False)
class NameContext:
    """The settings of a session that affect names. It equals only itself, so that results can be cached by it.

    `default_fs` and `working_directory` complete paths without a scheme and relative paths. `databases` has the
    locations of databases outside of the warehouse.
    """

    warehouse: str = ""
    metastore_uris: str = ""
    glue_arn: str = ""
    unity_host: str = ""
    default_fs: str = ""
    working_directory: str = ""
    derby_home: str = ""
    current_catalog: str = SESSION_CATALOG
    current_database: str = "default"
    catalogs: Mapping[str, SparkCatalog] = field(default_factory=dict)
    databases: Mapping[str, str] = field(default_factory=dict)


_CATALOG_PREFIX = "spark.sql.catalog."
_GLUE_FACTORY = "com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory"
_FACTORY_KEYS = (
    "spark.hadoop.hive.metastore.client.factory.class",
    "spark.hive.metastore.client.factory.class",
    "hive.metastore.client.factory.class",
)
# `type` option or last part of the catalog class, in lower case → type in OpenLineage's catalog facet
_CATALOG_TYPES = (
    ("glue", "glue"),
    ("gluecatalog", "glue"),
    ("rest", "rest"),
    ("restcatalog", "rest"),
    ("nessie", "nessie"),
    ("nessiecatalog", "nessie"),
    ("hive", "hive"),
    ("hivecatalog", "hive"),
    ("hadoop", "hadoop"),
    ("hadoopcatalog", "hadoop"),
    ("jdbc", "jdbc"),
    ("jdbccatalog", "jdbc"),
    ("jdbctablecatalog", "jdbc"),
    ("deltacatalog", "delta"),
    ("ucsinglecatalog", "unity"),
)


def context_from_conf(conf: Mapping[str, str]) -> NameContext:
    """The naming context of a Spark configuration. Hadoop keys may have the prefix `spark.hadoop.`."""
    hive = conf.get("spark.sql.catalogImplementation") == "hive"
    return NameContext(
        warehouse=_first_value(conf, "spark.sql.warehouse.dir", "spark.hadoop.hive.metastore.warehouse.dir"),
        metastore_uris=_metastore(conf) if hive else "",
        glue_arn=_glue_arn(conf),
        unity_host=_unity_host(conf),
        default_fs=_first_value(conf, "spark.hadoop.fs.defaultFS", "fs.defaultFS"),
        current_catalog=conf.get("spark.sql.defaultCatalog") or SESSION_CATALOG,
        catalogs=_catalogs(conf),
    )


def _first_value(conf: Mapping[str, str], *keys: str) -> str:
    return next((conf[key] for key in keys if conf.get(key)), "")


def _metastore(conf: Mapping[str, str]) -> str:
    return _first_value(conf, "spark.hadoop.hive.metastore.uris", "spark.hive.metastore.uris", "hive.metastore.uris")


def _glue_arn(conf: Mapping[str, str]) -> str:
    """`arn:aws:glue:region:account` if the Hive client is Glue's and region and account are configured."""
    if _first_value(conf, *_FACTORY_KEYS) != _GLUE_FACTORY:
        return ""
    account = _first_value(
        conf,
        "spark.hadoop.hive.metastore.glue.catalogid",
        "hive.metastore.glue.catalogid",
        "spark.glue.accountId",
    )
    region = _first_value(
        conf, "spark.hadoop.aws.region", "aws.region", "spark.executorEnv.AWS_REGION", "spark.glue.aws.region"
    )
    return f"arn:aws:glue:{region}:{account}" if account and region else ""


def _unity_host(conf: Mapping[str, str]) -> str:
    enabled = conf.get("spark.databricks.unityCatalog.enabled", "").lower() == "true"
    return _first_value(conf, "spark.databricks.workspaceUrl") if enabled else ""


def _catalogs(conf: Mapping[str, str]) -> dict[str, SparkCatalog]:
    names = {key[len(_CATALOG_PREFIX) :].split(".")[0] for key in conf if key.startswith(_CATALOG_PREFIX)}
    return {name: _catalog(conf, name) for name in sorted(names)}


def _catalog(conf: Mapping[str, str], name: str) -> SparkCatalog:
    prefix = f"{_CATALOG_PREFIX}{name}"
    class_or_type = _first_value(conf, f"{prefix}.type", f"{prefix}.catalog-impl", prefix)
    return SparkCatalog(
        name=name,
        type=catalog_type(class_or_type),
        uri=_first_value(conf, f"{prefix}.uri", f"{prefix}.url"),
        warehouse=_first_value(conf, f"{prefix}.warehouse"),
    )


def catalog_type(class_or_type: str) -> str:
    """`org.apache.iceberg.rest.RESTCatalog`, `rest` → `rest`; an unknown class → its short name in lower case."""
    short = class_or_type.rsplit(".", 1)[-1].lower()
    return next((facet_type for known, facet_type in _CATALOG_TYPES if short == known), short)
