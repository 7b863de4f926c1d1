"""What is recorded of a request: its plan, and everything from the server that the analysis of the plan needs.

A recorded plan is complete: it is analyzed in another process, without the server and without earlier plans.
"""

from __future__ import annotations

import base64
import zlib
from binascii import Error as BadBase64

import msgspec
from msgspec import Struct

from colline.errors import CollineError

MAX_PACKED_BYTES = 1024 * 1024
MAX_UNPACKED_BYTES = 256 * 1024 * 1024
# properties that change how a plan is analyzed
ANALYSIS_CONF = (
    "spark.sql.ansi.", "spark.sql.caseSensitive", "spark.sql.storeAssignmentPolicy", "spark.sql.session.timeZone",
    "spark.sql.legacy.", "spark.sql.crossJoin.", "spark.sql.groupByOrdinal", "spark.sql.orderByOrdinal",
    "spark.sql.groupByAliases", "spark.sql.analyzer.", "spark.sql.variable.", "spark.sql.mapKeyDedupPolicy",
    "spark.sql.sources.partitionOverwriteMode", "spark.sql.timestampType", "spark.sql.parser.",
    "spark.sql.defaultColumn.", "spark.sql.retainGroupColumns",
)  # fmt: skip


class TableDescription(Struct, frozen=True, omit_defaults=True):
    """A table or permanent view of the server.

    `parts` is its full name, the catalog first. `schema` is the JSON of Spark's schema. A view has its text, the
    columns of the query in the text, and the catalog and namespace in which the names in the text are resolved.
    """

    parts: tuple[str, ...]
    schema: str
    provider: str = ""
    location: str = ""
    options: dict[str, str] = {}
    partitions: tuple[str, ...] = ()
    view_text: str = ""
    view_columns: tuple[str, ...] = ()
    view_namespace: tuple[str, ...] = ()


class EarlierCommand(Struct, frozen=True, omit_defaults=True):
    """A command that defined a temporary view, function or variable. `namespace` was the current one then."""

    plan: bytes
    namespace: tuple[str, ...] = ()


class RecordedPlan(Struct, frozen=True, omit_defaults=True):
    """A plan of Spark Connect's protocol with the tables and the state of the session that it refers to.

    `plan` is a `spark.connect.Plan`. `earlier` are the commands, in order, that defined the temporary views, functions
    and variables it uses. `namespace` is the current catalog and database. `conf` has the Spark properties that change
    the analysis, `naming` those that change the names of datasets. `databases` are locations of databases, `masking`
    the functions that mask. `result_columns` are the columns of the result, which name the values of a pivot.
    """

    plan: bytes
    earlier: tuple[EarlierCommand, ...] = ()
    tables: tuple[TableDescription, ...] = ()
    catalogs: tuple[str, ...] = ()
    namespace: tuple[str, ...] = ("spark_catalog", "default")
    conf: dict[str, str] = {}
    working_directory: str = ""
    naming: dict[str, str] = {}
    databases: dict[str, str] = {}
    masking: tuple[str, ...] = ()
    result_columns: tuple[str, ...] = ()


class ResolvedPlan(Struct, frozen=True, omit_defaults=True):
    """The result of the analysis: the plan as JSON, or the tables that are missing, or why it cannot be analyzed.

    An empty result means that the plan has no lineage: SHOW TABLES, or a command that changes only the session.
    """

    plan: dict[str, object] | None = None
    missing: tuple[tuple[str, ...], ...] = ()
    failure: str = ""


class UnreadablePlanError(CollineError):
    """The content of a facet `colline_plan` is not a recorded plan."""


def pack_plan(recorded: RecordedPlan) -> str:
    """The content of the facet `colline_plan`; empty for a plan beyond the limit."""
    packed = zlib.compress(msgspec.json.encode(recorded))
    return base64.b64encode(packed).decode("ascii") if len(packed) <= MAX_PACKED_BYTES else ""


def unpack_plan(packed: str) -> RecordedPlan:
    """The recorded plan in the facet `colline_plan`."""
    if not packed:
        raise UnreadablePlanError("the plan is too large for an event")
    try:
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(base64.b64decode(packed, validate=True), MAX_UNPACKED_BYTES)
        return msgspec.json.decode(content, type=RecordedPlan)
    except (BadBase64, zlib.error, msgspec.DecodeError, ValueError) as error:
        raise UnreadablePlanError("the event has no readable plan") from error
