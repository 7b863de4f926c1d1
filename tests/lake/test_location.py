"""How addresses of lakes are read."""

from __future__ import annotations

import pytest

from colline.lake.location import hadoop_glob, hadoop_path, is_readable_by_delta_rs, is_remote, local_path, scheme_of

ADDRESSES = {
    # address: (scheme, local path, path for Hadoop)
    "/data/my lake/": ("", "/data/my lake/", "/data/my lake"),
    "relative": ("", "relative", "relative"),
    "file:///data/a%20b": ("file", "/data/a b", "file:/data/a b"),
    "FILE:/data": ("file", "/data", "file:/data"),
    "s3a://bucket/lake/": ("s3a", None, "s3a://bucket/lake"),
    "abfss://c@a.dfs.core.windows.net/lake": ("abfss", None, "abfss://c@a.dfs.core.windows.net/lake"),
}


@pytest.mark.parametrize(("address", "expected"), ADDRESSES.items())
def test_an_address_has_a_scheme_a_local_path_and_a_hadoop_path(address: str, expected: tuple[object, ...]) -> None:
    assert (scheme_of(address), local_path(address), hadoop_path(address)) == expected
    assert is_remote(address) == (expected[1] is None)


def test_a_glob_matches_only_its_own_path() -> None:
    assert hadoop_glob("/lake [of] {two}*") == r"/lake \[of\] \{two\}\*"
    assert hadoop_glob("s3a://bucket/10:00") == "s3a://bucket/10:00"
    assert hadoop_glob("/lake*/10:00") is None


@pytest.mark.parametrize("path", ["/a%20b", "/a\\b", "/a\nb"])
def test_paths_that_delta_rs_reads_differently_are_refused(path: str) -> None:
    assert not is_readable_by_delta_rs(path)
    assert is_readable_by_delta_rs("/lake with space/é")
