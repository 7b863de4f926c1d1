"""What naming gives: a dataset's identity, the other names it goes by, and what it is.

`NameContext` is what a Spark configuration says about names. Nothing here looks at a disk or a catalog.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from colline.trace import DatasetName

SESSION_CATALOG = "spark_catalog"


class DatasetKind(Enum):
    """What a dataset is, in the words of the lake's `kind` column."""

    TABLE = "TABLE"
    VIEW = "VIEW"
    FILE = "FILE"
    TOPIC = "TOPIC"
    JDBC = "JDBC"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True, order=True)
class Symlink:
    """Another name of a dataset: the one its catalog knows it by."""

    namespace: str
    name: str
    type: str = "TABLE"


@dataclass(frozen=True, slots=True)
class Named:
    """A dataset with its one name, its symlinks and its kind."""

    name: DatasetName
    symlinks: tuple[Symlink, ...] = ()
    kind: DatasetKind = DatasetKind.OTHER


@dataclass(frozen=True, slots=True)
class Catalog:
    """One `spark.sql.catalog.<name>`: what kind it is and where it keeps its tables."""

    name: str
    type: str = ""
    uri: str = ""
    warehouse: str = ""


@dataclass(frozen=True, eq=False)
class NameContext:
    """What the session's configuration says about names; equal only to itself, so that names can be remembered by it.

    `default_fs` and `working_directory` complete paths that have no scheme or are relative; `databases` holds the
    locations of databases that are not below the warehouse.
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
    catalogs: Mapping[str, Catalog] = field(default_factory=dict)
    databases: Mapping[str, str] = field(default_factory=dict)


_CATALOG_PREFIX = "spark.sql.catalog."
_GLUE_FACTORY = "com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory"
_FACTORY_KEYS = (
    "spark.hadoop.hive.metastore.client.factory.class",
    "spark.hive.metastore.client.factory.class",
    "hive.metastore.client.factory.class",
)
# catalog class or `type` option, lower case and by its end → the word OpenLineage's catalog facet uses
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
    """The naming context a Spark configuration describes (`spark.*`, and `spark.hadoop.*` or bare Hadoop keys)."""
    hive = conf.get("spark.sql.catalogImplementation") == "hive"
    return NameContext(
        warehouse=_first(conf, "spark.sql.warehouse.dir", "spark.hadoop.hive.metastore.warehouse.dir"),
        metastore_uris=_metastore(conf) if hive else "",
        glue_arn=_glue_arn(conf),
        unity_host=_unity_host(conf),
        default_fs=_first(conf, "spark.hadoop.fs.defaultFS", "fs.defaultFS"),
        current_catalog=conf.get("spark.sql.defaultCatalog") or SESSION_CATALOG,
        catalogs=_catalogs(conf),
    )


def _first(conf: Mapping[str, str], *keys: str) -> str:
    return next((conf[key] for key in keys if conf.get(key)), "")


def _metastore(conf: Mapping[str, str]) -> str:
    return _first(conf, "spark.hadoop.hive.metastore.uris", "spark.hive.metastore.uris", "hive.metastore.uris")


def _glue_arn(conf: Mapping[str, str]) -> str:
    """`arn:aws:glue:region:account` where the Hive client is Glue's and the account is told."""
    if _first(conf, *_FACTORY_KEYS) != _GLUE_FACTORY:
        return ""
    account = _first(
        conf,
        "spark.hadoop.hive.metastore.glue.catalogid",
        "hive.metastore.glue.catalogid",
        "spark.glue.accountId",
    )
    region = _first(
        conf, "spark.hadoop.aws.region", "aws.region", "spark.executorEnv.AWS_REGION", "spark.glue.aws.region"
    )
    return f"arn:aws:glue:{region}:{account}" if account and region else ""


def _unity_host(conf: Mapping[str, str]) -> str:
    enabled = conf.get("spark.databricks.unityCatalog.enabled", "").lower() == "true"
    return _first(conf, "spark.databricks.workspaceUrl") if enabled else ""


def _catalogs(conf: Mapping[str, str]) -> dict[str, Catalog]:
    names = {key[len(_CATALOG_PREFIX) :].split(".")[0] for key in conf if key.startswith(_CATALOG_PREFIX)}
    return {name: _catalog(conf, name) for name in sorted(names)}


def _catalog(conf: Mapping[str, str], name: str) -> Catalog:
    prefix = f"{_CATALOG_PREFIX}{name}"
    told = _first(conf, f"{prefix}.type", f"{prefix}.catalog-impl", prefix)
    return Catalog(
        name=name,
        type=catalog_type(told),
        uri=_first(conf, f"{prefix}.uri", f"{prefix}.url"),
        warehouse=_first(conf, f"{prefix}.warehouse"),
    )


def catalog_type(told: str) -> str:
    """The catalog facet's word for a `type` option or a catalog class, else the class's own short name."""
    short = told.rsplit(".", 1)[-1].lower()
    return next((word for known, word in _CATALOG_TYPES if short == known), short)
