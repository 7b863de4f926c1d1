"""Secrets in the settings of connectors and drivers are redacted, in every place where a job may write them."""

from __future__ import annotations

import pytest

from colline.events.redact import HIDDEN, is_secret_name, redact

ACCOUNT = "acct.dfs.core.windows.net"
SECRET = "Zx9/kQ+7wT"

# connector and its documentation → names of the settings that contain a secret
SETTINGS: dict[str, tuple[str, ...]] = {
    "S3A (Hadoop: hadoop-aws, Authenticating with S3, Encryption)": (
        "fs.s3a.access.key",
        "fs.s3a.secret.key",
        "fs.s3a.session.token",
        "fs.s3a.bucket.nightly.secret.key",
        "fs.s3a.encryption.key",
        "fs.s3a.server-side-encryption.key",
        "fs.s3a.proxy.password",
        "fs.s3n.awsSecretAccessKey",
    ),
    "ABFS and WASB (Hadoop: hadoop-azure)": (
        f"fs.azure.account.key.{ACCOUNT}",
        "fs.azure.account.oauth2.client.secret",
        f"fs.azure.account.oauth2.client.secret.{ACCOUNT}",
        "fs.azure.account.oauth2.client.secret.acct",
        f"fs.azure.account.oauth2.user.password.{ACCOUNT}",
        f"fs.azure.account.oauth2.refresh.token.{ACCOUNT}",
        f"fs.azure.sas.fixed.token.{ACCOUNT}",
        "fs.azure.sas.fixed.token",
        "fs.azure.sas.container.acct.blob.core.windows.net",
        f"fs.azure.encryption.encoded.client-provided-key.{ACCOUNT}",
        "dfs.adls.oauth2.credential",
    ),
    "GCS (Hadoop connector: Configuration)": (
        "fs.gs.auth.service.account.private.key",
        "fs.gs.auth.service.account.private.key.id",
        "fs.gs.auth.client.secret",
        "fs.gs.auth.refresh.token",
        "fs.gs.encryption.key",
        "fs.gs.proxy.password",
    ),
    "Snowflake (Spark connector: Setting configuration options)": (
        "sfPassword",
        "pem_private_key",
        "sfToken",
        "awsSecretKey",
        "temporary_aws_secret_access_key",
        "temporary_azure_sas_token",
        "proxy_password",
    ),
    "BigQuery (Spark connector: README, Properties)": ("gcpAccessToken", "credentials", "proxyPassword"),
    "PostgreSQL (pgJDBC: Connection parameters)": ("password", "sslpassword"),
    "MySQL (Connector/J: Authentication, Security)": (
        "password1",
        "password2",
        "password3",
        "trustCertificateKeyStorePassword",
        "clientCertificateKeyStorePassword",
    ),
    "SQL Server (mssql-jdbc: Connection properties)": (
        "accessToken",
        "clientKeyPassword",
        "keyStoreSecret",
        "keyVaultProviderClientKey",
        "trustStorePassword",
        "AADSecurePrincipalSecret",
    ),
    "Oracle (JDBC: Connection properties)": (
        "oracle.net.wallet_password",
        "oracle.jdbc.accessToken",
        "javax.net.ssl.keyStorePassword",
        "javax.net.ssl.trustStorePassword",
    ),
    "Redshift (JDBC 2.1: Options)": (
        "AccessKeyID",
        "SecretAccessKey",
        "SessionToken",
        "Client_Secret",
        "webIdentityToken",
        "temporary_aws_session_token",
    ),
    "Kafka (Client configuration: SASL, SSL)": (
        "kafka.sasl.jaas.config",
        "kafka.ssl.keystore.password",
        "kafka.ssl.keystore.key",
        "kafka.ssl.key.password",
        "kafka.ssl.truststore.password",
        "schema.registry.basic.auth.user.info",
    ),
    "Spark (Configuration: Security)": ("spark.authenticate.secret", "spark.ssl.keyPassword"),
}
NAMES = [(connector, name) for connector, names in SETTINGS.items() for name in names]
# where a job may write a setting
PLACES = (
    "{name}={secret}",
    "SET {name} = {secret}",
    "SET {name}={secret}",
    "CREATE TABLE t USING x OPTIONS ('{name}' = '{secret}', a 'kept')",
    "CREATE TABLE t USING x OPTIONS ({name} '{secret}', a 'kept')",
    "CREATE TABLE t USING x OPTIONS (`{name}` '{secret}', a 'kept')",
    '{{"a": "kept", "{name}": "{secret}"}}',
    "spark.hadoop.{name} {secret}",
    "--conf spark.hadoop.{name}={secret} kept",
    "https://host/path?a=kept&{name}={secret}",
)


@pytest.mark.parametrize(("connector", "name"), NAMES, ids=[name for _, name in NAMES])
def test_secret_settings_of_connectors_are_redacted(connector: str, name: str) -> None:
    assert is_secret_name(name), connector
    for place in PLACES:
        text = place.format(name=name, secret=SECRET)
        done = redact(text)
        assert SECRET not in done
        assert HIDDEN in done
        assert ("kept" in done) is ("kept" in text)
        assert redact(done) == done


# text, and the text after redaction
CONNECTIONS = [
    (
        "jdbc:mysql://localhost/db?user=johndoe&password1=one11&password2=two22&password3=three33",
        "jdbc:mysql://localhost/db?user=johndoe&password1=***&password2=***&password3=***",
    ),
    (
        "jdbc:mysql://address=(host=db)(port=3306)(user=etl)(password=one11)/shop",
        "jdbc:mysql://address=(host=db)(port=3306)(user=etl)(password=***)/shop",
    ),
    (
        "jdbc:sqlserver://db;databaseName=shop;user=etl;password={a}}b;c};encrypt=true",
        "jdbc:sqlserver://db;databaseName=shop;user=etl;password=***;encrypt=true",
    ),
    (
        "jdbc:redshift:iam://c.eu-west-1/dev?AccessKeyID=AKID&SecretAccessKey=se/cr+et&SessionToken=Fwo/x",
        "jdbc:redshift:iam://c.eu-west-1/dev?AccessKeyID=***&SecretAccessKey=***&SessionToken=***",
    ),
    (
        "jdbc:bigquery://https://www.googleapis.com/bigquery/v2:443;ProjectId=p;OAuthType=0;OAuthPvtKey=MIIE;OAuthServiceAcctEmail=a@b",
        "jdbc:bigquery://https://www.googleapis.com/bigquery/v2:443;ProjectId=p;OAuthType=0;OAuthPvtKey=***;OAuthServiceAcctEmail=a@b",
    ),
    (
        "jdbc:snowflake://acme.snowflakecomputing.com/?user=etl&private_key_base64=MIIE&private_key_pwd=pp&db=d",
        "jdbc:snowflake://acme.snowflakecomputing.com/?user=etl&private_key_base64=***&private_key_pwd=***&db=d",
    ),
    (
        'org.apache.kafka.common.security.scram.ScramLoginModule required username="etl" password="k f;ka";',
        "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"etl\" password='***';",
    ),
    (
        "OAuthBearerLoginModule required clientId='etl' clientSecret='kfka' scope='s';",
        "OAuthBearerLoginModule required clientId='etl' clientSecret='***' scope='s';",
    ),
    ("https://maps.example/geocode?key=abcdefg123&y=1", "https://maps.example/geocode?key=***&y=1"),
    ("https://app.azurewebsites.net/api/f?code=abcd1234==&y=1", "https://app.azurewebsites.net/api/f?code=***&y=1"),
    ("spark-submit --password hunter2 job.py", "spark-submit --password *** job.py"),
    ("Map(user -> etl, password -> k3y, url -> x)", "Map(user -> etl, password -> ***, url -> x)"),
    ('Map("password" -> "k3y")', "Map(\"password\" -> '***')"),
    ("cannot connect (user: etl, password: k3y)", "cannot connect (user: etl, password: ***)"),
    ("es.net.http.auth.pass = k3y", "es.net.http.auth.pass = ***"),
    ("jdbc:teradata://h/DATABASE=d,LOGDATA=k3y", "jdbc:teradata://h/DATABASE=d,LOGDATA=***"),
    ("os.environ['DB_PASSWORD'] = 'k3y'", "os.environ['DB_PASSWORD'] = '***'"),
    ("SALT = b'k3y'", "SALT = b'***'"),
    ("hmac.new(b'k3y', x, 'sha256')", "hmac.new(b'***', x, 'sha256')"),
    ("Fernet('k3y').encrypt(x)", "Fernet('***').encrypt(x)"),
    ("AES.new('k3y', mode)", "AES.new('***', mode)"),
    ("alter user etl identified by k3y", "alter user etl identified by ***"),
    ("Authorization: token k3yk3yk3y1", "Authorization: *** ***"),
    ("X-Api-Key: k3y", "X-Api-Key: ***"),
    ("https://hooks.slack.com/services/T0/B0/k3y", "https://hooks.slack.com/services/***"),
    ("hf_abcdefghijklmnop1234567890ABCDEFGH", "***"),
    ("select hmac('k3y', email) from t where a = 'b'", "select hmac('***', email) from t where a = 'b'"),
    ("select hmac_sha256(lower(email), 'k3y') from t", "select hmac_sha256(lower(email), '***') from t"),
    ("hmac(email, 'k3y', 'sha256')", "hmac(email, '***', 'sha256')"),
    ("can't resolve hmac('k3y', email)", "can't resolve hmac('***', email)"),
    ("aes_encrypt(email, unhex('00112233'), 'GCM')", "aes_encrypt(email, unhex('***'), 'GCM')"),
    ("aes_encrypt(concat(a, ')'), X'0011', 'CBC')", "aes_encrypt(concat(a, '***'), X'***', 'CBC')"),
    ("pgp_sym_encrypt(email, 'k3y", "pgp_sym_encrypt(email, '***'"),
    ("sha2(concat('pepper', email), 256)", "sha2(concat('***', email), 256)"),
    ("md5('pepper' || lower(email))", "md5('***' || lower(email))"),
    ("sha(concat(email, 'pep''per'))", "sha(concat(email, '***'))"),
    ("sha1(concat_ws('|', email, \"pepper\"))", "sha1(concat_ws('|', email, '***'))"),
    ("xxhash64(concat(email, 19283746), 42)", "xxhash64(concat(email, '***'), 42)"),
    (
        "substr(sha2(concat(X'c0ffee', cast(id as string)), 512), 1, 8)",
        "substr(sha2(concat(X'***', cast(id as string)), 512), 1, 8)",
    ),
    ("HASHBYTES('SHA2_256', CONCAT(email, 'pepper'))", "HASHBYTES('SHA2_256', CONCAT(email, '***'))"),
    ("to_hex(farm_fingerprint(concat('pepper', email)))", "to_hex(farm_fingerprint(concat('***', email)))"),
    ("digest(email || 'pepper', 'sha256')", "digest(email || '***', 'sha256')"),
    ("select hash(a), concat('x', b) from t where c = 'y'", "select hash(a), concat('x', b) from t where c = 'y'"),
    ("md5(concat_ws('||', coalesce(a, ''), col_12345))", "md5(concat_ws('||', coalesce(a, ''), col_12345))"),
]


@pytest.mark.parametrize(("text", "expected"), CONNECTIONS, ids=[text[:40] for text, _ in CONNECTIONS])
def test_only_the_secret_is_replaced(text: str, expected: str) -> None:
    assert redact(text) == expected
    assert redact(expected) == expected


PUBLIC_SETTINGS = (
    "fs.azure.account.keyprovider.acct.dfs.core.windows.net",
    "fs.azure.sas.token.provider.type.acct.dfs.core.windows.net",
    "fs.azure.account.auth.type.acct.dfs.core.windows.net",
    "fs.azure.account.oauth2.client.endpoint.acct.dfs.core.windows.net",
    "fs.s3a.endpoint",
    "fs.s3a.aws.credentials.provider",
    "fs.gs.project.id",
    "sfWarehouse",
    "kafka.bootstrap.servers",
    "kafka.sasl.mechanism",
    "kafka.ssl.keystore.location",
    "credentialsFile",
    "trustStore",
)


@pytest.mark.parametrize("name", PUBLIC_SETTINGS)
def test_settings_without_secrets_are_kept(name: str) -> None:
    assert not is_secret_name(name)
    assert redact(f"OPTIONS ('{name}' = 'value')") == f"OPTIONS ('{name}' = 'value')"
