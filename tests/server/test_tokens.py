"""Access: tokens, hosts, origins, TLS, and the headers of the page."""

from __future__ import annotations

import json
import os
import ssl
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import httpx
import pytest

from colline.server.server_settings import token_file
from colline.server.static_files import find_page, page_at_depth, read_page
from colline.server.tokens import TokenBook
from tests.server.serving import Server, event, serving

LINEAGE = "/api/v1/lineage"


def _colline(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "colline", *arguments], capture_output=True, text=True, check=False)


def _make(lake: Path, *scopes: str) -> str:
    options = [part for scope in scopes for part in ("--scope", scope)]
    done = _colline("token", "create", "--lake", str(lake), "--label", "-".join(scopes), *options)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tokens") / "lake"


@pytest.fixture(scope="module")
def secrets(lake: Path) -> dict[str, str]:
    return {scope: _make(lake, scope) for scope in ("send", "read", "admin")}


@pytest.fixture(scope="module")
def server(lake: Path, secrets: dict[str, str]) -> Iterator[Server]:
    with serving(lake, "--host", "0.0.0.0") as running:
        yield running


def _as(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def test_server_beyond_loopback_needs_a_token(tmp_path: Path) -> None:
    done = _colline("serve", "--create", "--lake", str(tmp_path / "lake"), "--host", "0.0.0.0", "--port", "0")
    assert done.returncode == 2
    assert "needs a token" in done.stderr
    assert "hint: colline token create" in done.stderr


def test_each_scope_allows_its_endpoints(server: Server, secrets: dict[str, str]) -> None:
    reading, sending = ("GET", "/api/v1/status", None), ("POST", LINEAGE, event())
    allowed = {
        (name, path): server.client.request(method, path, json=body, headers=_as(secret)).status_code
        for name, secret in secrets.items()
        for method, path, body in (reading, sending)
    }
    assert allowed == {
        ("send", "/api/v1/status"): 403,
        ("send", LINEAGE): 201,
        ("read", "/api/v1/status"): 200,
        ("read", LINEAGE): 403,
        ("admin", "/api/v1/status"): 200,
        ("admin", LINEAGE): 201,
    }


WRONG_HEADERS = [
    {},
    {"Authorization": ""},
    {"Authorization": "Bearer"},
    {"Authorization": "Basic dXNlcjpwYXNz"},
    {"Authorization": "Bearer colline_00000000_" + "0" * 64},
    {"Authorization": "Bearer nonsense"},
    {"Authorization": b"Bearer \xff\xfe"},
    {"X-Api-Key": "colline"},
]


@pytest.mark.parametrize("headers", WRONG_HEADERS, ids=range(len(WRONG_HEADERS)))
def test_request_without_a_valid_token_is_401(server: Server, headers: dict[str, str]) -> None:
    for path in ("/api/v1/status", "/api/v1/columns?q=a", "/metrics"):
        answer = server.client.get(path, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "no_token")
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert server.client.post(LINEAGE, json=event(), headers=headers).status_code == 401
    assert server.client.get("/healthz", headers=headers).status_code == 200


def test_altered_secret_is_refused(server: Server, secrets: dict[str, str]) -> None:
    almost = secrets["read"][:-1] + ("0" if secrets["read"][-1] != "0" else "1")
    assert server.client.get("/api/v1/status", headers=_as(almost)).status_code == 401


def test_openlineage_python_can_use_a_token_as_api_key(server: Server, secrets: dict[str, str]) -> None:
    from openlineage.client import OpenLineageClient
    from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
    from openlineage.client.transport.http import HttpConfig, HttpTransport
    from openlineage.client.uuid import generate_new_uuid

    before = server.client.get("/api/v1/status", headers=_as(secrets["read"])).json()["receiver"]["accepted"]
    auth = {"type": "api_key", "apiKey": secrets["send"]}
    client = OpenLineageClient(transport=HttpTransport(HttpConfig.from_dict({"url": server.address, "auth": auth})))
    run = Run(str(generate_new_uuid()))
    client.emit(RunEvent(eventTime="2026-03-02T12:04:00Z", eventType=RunState.START, run=run, job=Job("ol", "py")))
    after = server.client.get("/api/v1/status", headers=_as(secrets["read"])).json()["receiver"]["accepted"]
    assert after == before + 1


def test_lake_stores_only_digests_readable_by_the_owner(lake: Path, secrets: dict[str, str]) -> None:
    kept = token_file(lake)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert not [secret for secret in secrets.values() if secret.rsplit("_", 1)[1] in kept.read_text()]
    header, *_ = _colline("token", "list", "--lake", str(lake)).stdout.splitlines()
    assert header.split() == ["id", "scopes", "created", "expires", "label"]
    listed = _colline("token", "list", "--lake", str(lake), "--json")
    assert {row["label"] for row in json.loads(listed.stdout)} >= {"send", "read", "admin"}
    assert "digest" not in listed.stdout


def test_log_contains_the_id_of_the_token(server: Server, secrets: dict[str, str]) -> None:
    server.client.get("/api/v1/status", headers=_as(secrets["read"]))
    ident, secret = secrets["read"].split("_")[1:]
    assert secret not in server.log_text(f" {ident} GET /api/v1/status 200 ")


def test_revoked_token_is_refused_within_seconds(server: Server, lake: Path) -> None:
    secret = _make(lake, "read", "send")
    deadline = time.monotonic() + 5
    while server.client.get("/api/v1/status", headers=_as(secret)).status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert _colline("token", "revoke", "--lake", str(lake), secret.split("_")[1]).returncode == 0
    deadline = time.monotonic() + 5
    while server.client.get("/api/v1/status", headers=_as(secret)).status_code != 401:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    again = _colline("token", "revoke", "--lake", str(lake), secret.split("_")[1])
    assert (again.returncode, "no token" in again.stderr) == (2, True)


def test_no_token_is_valid_while_the_file_of_tokens_is_damaged(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    secret = _make(lake, "read")
    with serving(lake, "--require-token") as server:
        headers = {"authorization": f"Bearer {secret}"}
        assert server.client.get("/api/v1/status", headers=headers).status_code == 200
        token_file(lake).write_text("[{")
        time.sleep(1.2)  # the server checks the file once per second
        for _ in range(3):
            answer = server.client.get("/api/v1/status", headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (503, "fault")
        assert server.client.get("/api/v1/status").status_code == 401


@pytest.mark.parametrize("what", ["a folder", "a named pipe", "a link to itself"])
def test_no_token_is_valid_while_the_file_of_tokens_is_replaced(tmp_path: Path, what: str) -> None:
    lake = tmp_path / "lake"
    headers = {"authorization": f"Bearer {_make(lake, 'read')}"}
    with serving(lake, "--require-token") as server:
        file = token_file(lake)
        file.unlink()
        make = {"a folder": file.mkdir, "a named pipe": lambda: os.mkfifo(file)}
        make.get(what, lambda: file.symlink_to(file))()
        time.sleep(1.2)  # the server checks the file once per second
        for _ in range(2):
            answer = server.client.get("/api/v1/status", headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (503, "fault")
        assert server.client.get("/healthz").status_code == 200


def test_replaced_content_with_the_old_time_is_noticed(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    headers = {"authorization": f"Bearer {_make(lake, 'read')}"}
    with serving(lake, "--require-token") as server:
        assert server.client.get("/api/v1/status", headers=headers).status_code == 200
        times = token_file(lake).stat()
        token_file(lake).write_text("[]")
        os.utime(token_file(lake), ns=(times.st_atime_ns, times.st_mtime_ns))
        time.sleep(1.2)
        assert server.client.get("/api/v1/status", headers=headers).status_code == 401


@pytest.mark.parametrize(
    "host",
    ["localhost:80:80", "localhost:99999", "[::1]x", "evil.example#localhost", "localhost@evil.example", "", "[::1"],
)
def test_malformed_host_is_refused(tmp_path: Path, host: str) -> None:
    with serving(tmp_path / "lake") as server:
        assert server.client.get("/api/v1/status", headers={"host": host}).status_code in (400, 403)


def test_expired_token_is_refused(tmp_path: Path) -> None:
    book = TokenBook(tmp_path / "tokens.json")
    now = datetime.now(timezone.utc)
    _, old = book.create("old", ("read",), now - timedelta(seconds=1))
    _, fresh = book.create("fresh", ("read",), now + timedelta(days=1))
    assert book.find(old) is None
    assert (found := book.find(fresh)) is not None
    assert (found.label, found.allows("read"), found.allows("send"), found.allows("admin")) == (
        "fresh",
        True,
        False,
        False,
    )


def test_server_on_loopback_accepts_only_local_host_names(tmp_path: Path) -> None:
    with serving(tmp_path / "lake", "--allowed-host", "lineage.example") as server:
        port = httpx.URL(server.address).port
        taken = (f"localhost:{port}", f"127.0.0.1:{port}", "lineage.example", "LINEAGE.example:80")
        refused = ("evil.example", f"evil.example:{port}")
        for host, status in (*((host, 200) for host in taken), *((host, 403) for host in refused)):
            assert server.client.get("/healthz", headers={"Host": host}).status_code == status, host
        for origin, status in ((server.address, 200), ("http://evil.example", 403), ("null", 403)):
            assert server.client.get("/api/v1/status", headers={"Origin": origin}).status_code == status, origin
        assert server.client.post(LINEAGE, json=event(), headers={"Origin": "http://evil.example"}).status_code == 403
        assert "access-control-allow-origin" not in server.client.get("/healthz").headers


def test_cors_is_limited_to_the_configured_origins(tmp_path: Path) -> None:
    with serving(tmp_path / "lake", "--cors-origin", "https://portal.example") as server:
        preflight = {"Origin": "https://portal.example", "Access-Control-Request-Method": "GET"}
        assert server.client.options("/api/v1/status", headers=preflight).status_code == 200
        answer = server.client.get("/api/v1/status", headers={"Origin": "https://portal.example"})
        assert answer.headers["Access-Control-Allow-Origin"] == "https://portal.example"
        assert server.client.get("/api/v1/status", headers={"Origin": "https://other.example"}).status_code == 403


def test_responses_have_security_headers(server: Server) -> None:
    for path in ("/", "/healthz", "/api/v1/nothing", "/some/page"):
        headers = server.client.get(path).headers
        assert "'unsafe" not in headers["Content-Security-Policy"]
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "server" not in headers


def test_tls_needs_a_certificate_and_a_key(tmp_path: Path) -> None:
    cert, key = _certificate(tmp_path)
    trusted = ssl.create_default_context(cafile=str(cert))
    command = [sys.executable, "-m", "colline", "serve", "--create", "--lake", str(tmp_path / "lake"), "--port", "0"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([*command, "--tls-cert", str(cert), "--tls-key", str(key)], stderr=log)
    try:
        address = _https_address(tmp_path / "log")
        for _ in range(100):
            try:
                assert httpx.get(f"{address}/healthz", verify=trusted).status_code == 200
                break
            except httpx.ConnectError:
                time.sleep(0.1)
        else:
            pytest.fail("no answer over TLS")
    finally:
        process.terminate()
        process.wait(20)


def _https_address(log: Path) -> str:
    for _ in range(200):
        if " at https://" in (text := log.read_text()):
            return "https://localhost:" + text.split(" at https://")[1].split()[0].rsplit(":", 1)[1]
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def _certificate(folder: Path) -> tuple[Path, Path]:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(timezone.utc)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1))
    signed = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False).sign(
        key, hashes.SHA256()
    )
    plain = serialization.NoEncryption()
    (folder / "cert.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    )
    return folder / "cert.pem", folder / "key.pem"


def test_page_files_are_served_by_exact_name_and_hashed_ones_are_cached_forever(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text('<!doctype html><script src="./assets/index-4f2a.js">')
    (tmp_path / "assets" / "index-4f2a.js").write_text("console.log(1);" * 200)
    (tmp_path / "secret").symlink_to("/etc/passwd")
    files = read_page(tmp_path)
    assert set(files) == {"/index.html", "/assets/index-4f2a.js"}
    assert files["/assets/index-4f2a.js"].cache_control.endswith(b"immutable")
    assert files["/assets/index-4f2a.js"].gzipped is not None
    assert files["/index.html"].cache_control == b"no-cache"
    assert find_page(files, "/") == find_page(files, "/table") == (200, files["/index.html"])
    for missing in ("/assets/old-1.js", "/favicon.ico", "/api/v2/x"):
        assert find_page(files, missing) is None
    assert find_page(files, "/../secret") == (404, page_at_depth(files["/index.html"], 1))
    assert find_page(files, "/nope") == (404, files["/index.html"])
    assert page_at_depth(files["/index.html"], 2).body == b'<!doctype html><script src="../../assets/index-4f2a.js">'
    not_built = find_page({}, "/")
    assert not_built is not None
    assert (not_built[0], b"make page" in not_built[1].body) == (503, True)
