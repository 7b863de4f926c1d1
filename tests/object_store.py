"""An S3-compatible object store on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.transport.peers import free_port

KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_DEFAULT_REGION": "us-east-1"}


@contextmanager
def object_store(bucket: str) -> Iterator[str]:
    """A running store with one empty bucket; the address of the store."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=free_port(), verbose=False)
    server.start()
    endpoint = "http://{}:{}".format(*server.get_host_and_port())
    before = {name: os.environ.get(name) for name in (*KEYS, "AWS_ENDPOINT_URL")}
    os.environ.update(KEYS | {"AWS_ENDPOINT_URL": endpoint})
    try:
        _files().mkdir(bucket)
        yield endpoint
    finally:
        _files().clear_instance_cache()
        server.stop()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _files():  # type: ignore[no-untyped-def]
    import s3fs

    return s3fs.S3FileSystem(skip_instance_cache=True)


def upload(lake: Path, address: str, *folders: str) -> None:
    """Uploads the files of a lake, or of some of its folders."""
    from colline.lake.location import fsspec_filesystem

    files, root = fsspec_filesystem(address)
    for path in sorted(path for folder in folders or ("",) for path in (lake / folder).rglob("*")):
        if path.is_file():
            files.pipe_file(f"{root}/{path.relative_to(lake).as_posix()}", path.read_bytes())
