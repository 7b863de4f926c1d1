"""A job that uses secrets in settings, options and SQL: no event contains one of them."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import colline
from colline.capture.watch import Watch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tables")]

ACCOUNT = "acct.dfs.core.windows.net"
SETTINGS = {
    f"fs.azure.account.oauth2.client.secret.{ACCOUNT}": "s3cret-azure-client",
    f"fs.azure.sas.fixed.token.{ACCOUNT}": "s3cret-azure-sas",
    f"fs.azure.account.key.{ACCOUNT}": "s3cret-azure-key",
    "fs.s3a.secret.key": "s3cret-s3/key",
    "fs.gs.auth.service.account.private.key": "s3cret-gcs-key",
    "spark.datasource.x.password1": "s3cret-mysql",
}
OPTIONS = {"sfPassword": "s3cret-snowflake", "gcpAccessToken": "s3cret-bigquery", "password2": "s3cret-factor"}


def test_no_event_contains_a_secret_of_the_job(spark: SparkSession, tmp_path: Path) -> None:
    chosen = [*SETTINGS, "spark.app.name"]
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    watch = colline.attach(spark, transport={"type": "memory"}, namespace="tests", spark_properties=chosen)
    assert isinstance(watch, Watch)
    try:
        _run_job(spark, tmp_path)
        watch.flush()
        text = json.dumps(watch.events)
    finally:
        watch.detach()
        for name in SETTINGS:
            spark.conf.unset(name)
    assert text.count("orders") > 4
    assert "s3cret-" not in text
    assert "30303030" not in text
    assert "***" in text


def _run_job(spark: SparkSession, tmp_path: Path) -> None:
    for name, value in SETTINGS.items():
        spark.sql(f"set {name} = {value}")
    orders = spark.table("watched.orders")
    orders.write.options(**OPTIONS).parquet(str(tmp_path / "written"))
    spark.read.options(**OPTIONS).parquet(str(tmp_path / "written")).write.parquet(str(tmp_path / "copied"))
    spark.sql(
        "create table watched.keyed using parquet "
        "options (sfPassword 's3cret-option', 'password1' = 's3cret-quoted') as "
        "select base64(aes_encrypt(region, unhex('30303030303030303030303030303030'), 'GCM')) as sealed, "
        "hex(aes_encrypt(region, 's3cret-cipher-16', 'ECB')) as hidden, 'x?key=s3cret-query' as url, "
        "sha2(concat('s3cret-salt', region), 256) as hashed, md5(region || 's3cret-pepper') as digested "
        "from watched.orders"
    )
    with suppress(Exception):  # the address cannot be reached; the failure is an event with an error message
        orders.write.jdbc("jdbc:mysql://127.0.0.1:1/shop?user=etl&password1=s3cret-url&password2=s3cret-two", "t")
    with suppress(Exception):
        spark.sql("insert into watched.keyed (sealed) select raise_error('token=s3cret-message') from watched.orders")
