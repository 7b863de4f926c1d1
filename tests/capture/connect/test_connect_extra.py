"""Without the packages of Spark Connect, one error names the extra."""

from __future__ import annotations

import sys

import pytest

from colline.capture.connect.connect_session import MissingPackageError, require_packages


@pytest.mark.parametrize("package", ["grpc", "grpc_status", "google.protobuf", "zstandard"])
def test_a_missing_package_names_the_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError) as error:
        require_packages()
    assert str(error.value).endswith("hint: pip install 'colline[connect]'")
