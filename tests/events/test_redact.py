"""Secrets of all clouds are redacted, and other text is not changed."""
# ruff: noqa: E501 - realistic secrets are long, and each row of the table is one line

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colline.events.redact import HIDDEN, is_secret_name, pick_properties, redact, redact_literals

JWT = "eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJodHRwczovL3N0b3JhZ2UifQ.Zm9vYmFyLXNpZ25hdHVyZQ"
PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\nAgEAAoIBAQC7\n-----END PRIVATE KEY-----\n"

# text, the secret in it, the part that must not change
SECRETS = [
    # JDBC
    ("jdbc:postgresql://db:5432/shop?user=etl&password=hunter2&ssl=true", "hunter2", "jdbc:postgresql://db:5432/shop?user=etl"),
    ("jdbc:postgresql://etl:hunter2@db:5432/shop", "hunter2", "@db:5432/shop"),
    ("jdbc:mysql://db:3306/shop?user=etl&password=p%40ss&useSSL=true", "p%40ss", "useSSL=true"),
    ("jdbc:sqlserver://db:1433;databaseName=shop;user=etl;password=P@ssw0rd;encrypt=true", "P@ss", "databaseName=shop"),
    ("jdbc:sqlserver://db;databaseName=shop;user=etl;password={a b c};encrypt=true", "{a", "databaseName=shop"),
    ("jdbc:oracle:thin:etl/tiger@//db:1521/shop", "tiger", "@//db:1521/shop"),
    ("jdbc:oracle:thin:etl/\"ti/ger\"@db:1521:shop", "ti/ger", "@db:1521:shop"),
    ("jdbc:snowflake://acme.snowflakecomputing.com/?user=etl&password=Sn0w&warehouse=wh", "Sn0w", "warehouse=wh"),
    ("jdbc:snowflake://acme.snowflakecomputing.com/?user=etl&private_key_pwd=k3y&db=d", "k3y", "db=d"),
    ("jdbc:redshift://c.eu-west-1.redshift.amazonaws.com:5439/dev?UID=etl&PWD=R3dshift", "R3dshift", ":5439/dev"),
    ("jdbc:databricks://adb-1.azuredatabricks.net:443/default;AuthMech=3;UID=token;PWD=dapi0123456789abcdef0123456789abcdef", "dapi0123456789abcdef0123456789abcdef", "AuthMech=3"),
    ("jdbc:postgresql://db/x?sslpassword=abc&sslcert=/c.pem", "abc&", "sslcert=/c.pem"),
    ("jdbc:sqlserver://db;trustStorePassword=ts3cret;trustStore=/x.jks", "ts3cret", "trustStore=/x.jks"),
    ("mongodb+srv://etl:m0ng0@cluster0.mongodb.net/shop", "m0ng0", "@cluster0.mongodb.net/shop"),
    ("redis://:r3dis@cache:6379/0", "r3dis", "@cache:6379/0"),
    # AWS
    ("s3a://AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY@bucket/key", "wJalrXUtnFEMI/K7MDENG", "@bucket/key"),
    ("s3a://AKIAIOSFODNN7EXAMPLE:abc@bucket/key", "AKIAIOSFODNN7EXAMPLE", "@bucket/key"),
    ("https://b.s3.amazonaws.com/k?X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20260101&X-Amz-Signature=fe5f80f77d5fa3beca", "fe5f80f77d5fa3beca", "https://b.s3.amazonaws.com/k"),
    ("https://b.s3.amazonaws.com/k?X-Amz-Security-Token=FwoGZXIvYXdzEBYaD&X-Amz-Expires=60", "FwoGZXIvYXdzEBYaD", "X-Amz-Expires=60"),
    ("spark.hadoop.fs.s3a.secret.key=wJalrXUtnFEMI/K7MDENG", "wJalrXUtnFEMI/K7MDENG", "fs.s3a.secret.key"),
    ("spark.hadoop.fs.s3a.access.key AKIDEXAMPLE00", "AKIDEXAMPLE00", "fs.s3a.access.key"),
    ("aws_secret_access_key = 'wJalrXUtnFEMI'", "wJalrXUtnFEMI", "aws_secret_access_key"),
    ("COPY t FROM 's3://b' CREDENTIALS 'aws_access_key_id=AKIAIOSFODNN7EXAMPLE;aws_secret_access_key=wJalr'", "wJalr", "s3://b"),
    # Azure
    ("https://acct.blob.core.windows.net/c/f?sv=2022-11-02&se=2026-01-01&sr=b&sig=Zm9v%2BYmFy%3D", "Zm9v%2BYmFy", "https://acct.blob.core.windows.net/c/f?sv=2022-11-02"),
    ("DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;EndpointSuffix=core.windows.net", "Eby8vdM02xNOcqFlqUwJ", "AccountName=acct"),
    ("Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=abc123DEF=;EntityPath=x", "abc123DEF", "EntityPath=x"),
    ("SharedAccessSignature=sv=2021&sig=abcd1234", "abcd1234", "SharedAccessSignature"),
    ("fs.azure.account.key.acct.dfs.core.windows.net=Eby8vdM02xNO/cqFl==", "Eby8vdM02xNO", "acct.dfs.core.windows.net"),
    ("fs.azure.account.oauth2.client.secret=abc8Q~def", "abc8Q~def", "oauth2.client.secret"),
    ("client secret is Vx.8Q~abcdefghijklmnopqrstuvwxyz0123456789", "Vx.8Q~abcdefghijkl", "client secret is"),
    # Google
    ("https://storage.googleapis.com/b/o?X-Goog-Signature=8a7b6c5d&X-Goog-Date=20260101", "8a7b6c5d", "X-Goog-Date=20260101"),
    ('{"type": "service_account", "private_key": "' + PEM.replace("\n", "\\n") + '", "client_email": "a@b.iam"}', "MIIEvQIBADAN", "service_account"),
    (PEM, "MIIEvQIBADAN", ""),
    ("key=AIzaSyA1234567890abcdefghijklmnopqrstuvw", "AIzaSyA1234567890", ""),
    ("Authorization: Bearer ya29.a0AfH6SMBexample-token", "ya29.a0AfH6SMB", "Bearer"),
    # tokens of services
    (f"Authorization: Bearer {JWT}", JWT, "Authorization"),
    (f"select * from t where x = '{JWT}'", JWT, "select * from t where x ="),
    ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA", "Basic"),
    ("https://dapi0123456789abcdef0123456789abcdef@adb.net", "dapi0123456789abcdef", "adb.net"),
    ("git+https://ghp_abcdefghijklmnopqrstuvwxyz0123456789@github.com/a/b", "ghp_abcdefghij", "github.com/a/b"),
    ("https://oauth2:glpat-abcdefghij0123456789@gitlab.com/a/b", "glpat-abcdefghij", "gitlab.com/a/b"),
    ("xoxb-1234567890-abcdefghij", "1234567890-abc", ""),
    ("sk-proj-abcdefghijklmnop", "abcdefghijklmnop", ""),
    # Kafka
    ('org.apache.kafka.common.security.plain.PlainLoginModule required username="etl" password="k@fka secret";', "k@fka secret", 'username="etl"'),
    ("kafka.sasl.jaas.config=PlainModule", "PlainModule", "sasl.jaas.config"),
    # SQL
    ("CREATE TABLE t USING jdbc OPTIONS (url 'jdbc:x', user 'etl', password 'hun''ter2')", "hun", "user 'etl'"),
    ("CREATE TABLE t USING jdbc OPTIONS ('url' = 'jdbc:x', 'password' = 'hunter2')", "hunter2", "'url' = 'jdbc:x'"),
    ("CREATE USER etl IDENTIFIED BY 'hunter2'", "hunter2", "CREATE USER etl"),
    ("ALTER USER etl WITH PASSWORD 'hunter2' VALID UNTIL 'x'", "hunter2", "VALID UNTIL 'x'"),
    ("SET spark.datasource.x.password=hunter2", "hunter2", "SET spark.datasource.x.password"),
    ("SET spark.hadoop.fs.s3a.secret.key = wJalr/UtnFEMI", "wJalr/UtnFEMI", "secret.key"),
    ("SELECT aes_encrypt(email, 'abcdefghijklmnop') FROM t", "abcdefghijklmnop", "SELECT aes_encrypt(email"),
    ("SELECT aes_decrypt(unbase64(email), \"abcdefghijklmnop\", 'GCM') FROM t", "abcdefghijklmnop", "'GCM'"),
    ("SELECT sha2(concat('pepper', email), 256) FROM t", "pepper", "SELECT sha2(concat("),
    ("SELECT * FROM read_files('x', apiKey => 'k3y', format => 'csv')", "k3y", "format => 'csv'"),
    # settings and JSON
    ('{"user": "etl", "password": "hunter2"}', "hunter2", '"user": "etl"'),
    ('{"pin": 1, "secret": 12345}', "12345", '"pin": 1'),
    ("{'sfPassword': 'hunter2', 'sfUser': 'etl'}", "hunter2", "'sfUser': 'etl'"),
    ("password: 'hunter2'", "hunter2", "password"),
    ("https://host/path?access_token=abc.def&x=1", "abc.def", "x=1"),
    ("https://host/cb?redirect=https%3A%2F%2Fh%3Ftoken%3Dabcdef", "abcdef", "https://host/cb"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "secret", "kept"), SECRETS, ids=[each[0][:45] for each in SECRETS])
def test_secret_is_replaced_and_the_rest_is_kept(text: str, secret: str, kept: str) -> None:
    done = redact(text)
    assert secret not in done
    assert HIDDEN in done
    assert kept in done
    assert redact(done) == done


HARMLESS = [
    "select a, b from t where t.token = s.token and t.key = s.key",
    "SELECT password_reset_at, tokens_used FROM users u JOIN sessions s ON u.session_key = s.session_key",
    "abfss://container@account.dfs.core.windows.net/path/to/table",
    "wasbs://container@account.blob.core.windows.net/path",
    "s3://bucket/path/with-dashes/dt=2026-01-01/part-0.parquet",
    "http://marquez:5000/api/v1/lineage",
    "https://host:8443/a@b/c",
    "file:///data/warehouse/secret_santa/part-00000.parquet",
    "jdbc:postgresql://db:5432/shop?user=etl&ssl=true",
    "concat(first_name, ' ', last_name)",
    "case when pass then 'token' else 'author' end",
    "spark.master local[2]",
    "sum(amount) OVER (PARTITION BY account_key ORDER BY day)",
    "description: basic data",
    "root\n |-- password: string (nullable = true)\n |-- token: struct (nullable = true)",
    "struct<password:string,token:array<int>>",
    "select payload:token, a from t join s on a.salt=s.salt",
    "gsk_customer_orders_daily_snapshot_of_2026",
    "",
]


@pytest.mark.parametrize("text", HARMLESS, ids=lambda text: text[:45])
def test_harmless_text_is_not_changed(text: str) -> None:
    assert redact(text) == text


LITERALS = [
    ("select * from t1 where name = 'Ann' and age > 42", "select * from t1 where name = ? and age > ?"),
    ("select 'it''s', 'a\\'b', \"dq\", `weird 'name' 1`", "select ?, ?, ?, `weird 'name' 1`"),
    ("select a -- born 1970\nfrom t /* Ann 5 */ where b=1.5e-3", "select a \nfrom t  where b=?"),
    ("select date '2020-01-01', x'ff', r'a\\b', 10L, 3S, 1.0BD, .5", "select date ?, ?, ?, ?, ?, ?, ?"),
    ("select col_1, t2.c3 from db4.t5 limit 10", "select col_1, t2.c3 from db4.t5 limit ?"),
    ("select true, null, a in (1, 2, 'x')", "select true, null, a in (?, ?, ?)"),
    ("select interval '3' day, 1-2", "select interval ? day, ?-?"),
    ("select 'never ends", "select ?"),
    ("select spaltenname_ü1, 東京2 from t", "select spaltenname_ü1, 東京2 from t"),
    ("select /* never ends", "select "),
]


@pytest.mark.parametrize(("sql", "expected"), LITERALS, ids=lambda each: each[:40])
def test_literals_are_replaced_and_names_are_kept(sql: str, expected: str) -> None:
    assert redact_literals(sql) == expected


@given(st.text(alphabet="abAB 019'\"`-/*\\\n.eéx", max_size=60))
def test_no_quotes_outside_of_names_are_left(sql: str) -> None:
    done = redact_literals(sql)
    assert redact_literals(done) == done
    outside = "".join(done.split("`")[::2])
    assert "'" not in outside
    assert '"' not in outside


@given(st.text(max_size=300))
def test_redaction_is_idempotent(text: str) -> None:
    done = redact(text)
    assert redact(done) == done


PIECES = ["a", "password", "x.y.", "'", "://a:", "aes_encrypt(", "-eyJaaaaaaaa", "jdbc:oracle:a:b/", "accountkey.",
          "password='x", "-----BEGIN A-----", "bearer aaaaaaaa ", "spark.", "spark.password ", "/*", "'\\",
          "hmac(", "hmac('", "encrypt", "md5('x'||1234,", "sha", "hash_", "fs.azure.sas.", "password={a}}", "--password", "set ", "&key=",
          "token: ", "password -> ", "authorization: a ", "salt='", "identified by ", "hf_a1"]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_redaction_takes_linear_time(piece: str) -> None:
    """The limit is generous: it distinguishes linear from quadratic time, not fast from slow."""
    text = piece * (100_000 // len(piece))
    started = time.monotonic()
    redact(text)
    redact_literals(text)
    assert time.monotonic() - started < 20


NAMES = [
    ("password", True), ("spark.hadoop.fs.s3a.secret.key", True), ("sfPassword", True), ("apiKey", True),
    ("fs.azure.account.key.acct.dfs.core.windows.net", True), ("spark.app.name", False), ("spark.master", False),
    ("javax.jdo.option.ConnectionPassword", True), ("spark.sql.shuffle.partitions", False), ("access_token", True),
    ("spark.ssl.keyStorePassword", True), ("spark.authenticate.secret", True), ("primary_key_column", False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "is_secret"), NAMES, ids=[each[0] for each in NAMES])
def test_secret_is_recognized_by_name(name: str, is_secret: bool) -> None:
    assert is_secret_name(name) is is_secret


def test_only_chosen_properties_without_secrets_are_picked() -> None:
    properties = {
        "spark.master": "local[2]",
        "spark.app.name": "x",
        "spark.my.password": "hunter2",
        "spark.url": "http://u:pw@h/x",
        "spark.other": "kept back",
    }
    chosen = ["spark.master", "spark.my.password", "spark.url", "spark.absent"]
    assert pick_properties(properties, chosen) == {"spark.master": "local[2]", "spark.url": "http://u:***@h/x"}
