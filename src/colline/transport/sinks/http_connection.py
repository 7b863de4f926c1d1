"""An HTTP connection to one server: address, headers, proxy, TLS, and a limit on the total time of each request.

A socket time-out starts again with every byte, so a server that sends one byte per second could hold a request for
ever. Here every wait for the socket is limited by the time that is left of the request.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, quote, urlencode, urlsplit

from colline.errors import TransportError
from colline.events.redact import redact

if TYPE_CHECKING:
    from colline.transport.options import HttpOptions, SslOptions

_MAX_RESPONSE_BYTES = 1 << 20
# The size of a TLS record: sending more than one of them would wait more than once.
_SEND_BYTES = 16 * 1024


class RequestDeadline:
    """Limits the time of each wait to `wait_seconds`, and the time of all of them to `total_seconds`."""

    def __init__(self, wait_seconds: float, total_seconds: float) -> None:
        self._wait_seconds = wait_seconds
        self._total_seconds = total_seconds
        self.start()

    def start(self) -> None:
        """Start the time of a request."""
        self._at = monotonic() + self._total_seconds

    def wait_seconds(self) -> float:
        """How long the next wait may take. Raises TimeoutError if the time of the request is over."""
        left = self._at - monotonic()
        if left <= 0:
            raise TimeoutError(f"the request took longer than {self._total_seconds:g} s")
        return min(self._wait_seconds, left)


class _TimedFile(io.RawIOBase):
    """Reads from a socket. The deadline limits every read."""

    def __init__(self, sock: socket.socket, deadline: RequestDeadline) -> None:
        self._sock = sock
        self._deadline = deadline
        self._file = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read what the socket has."""
        self._sock.settimeout(self._deadline.wait_seconds())
        return self._file.readinto(buffer)

    def close(self) -> None:
        """Close the file; the socket stays open if the connection uses it."""
        self._file.close()
        super().close()


@dataclass(frozen=True, slots=True)
class _TimedSocket:
    """The part of a socket that `HTTPResponse` uses."""

    sock: socket.socket
    deadline: RequestDeadline

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_TimedFile(self.sock, self.deadline))


@dataclass(frozen=True, slots=True)
class HttpReply:
    """The response of a server."""

    status: int
    body: bytes = b""
    retry_after: float | None = None

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def summary(self) -> str:
        """The status and the start of the body, for a log line."""
        return f"HTTP {self.status} {self.body[:200].decode(errors='replace').strip()}".strip()


class HttpClient:
    """Posts to one server over a connection that is kept open between requests."""

    def __init__(self, options: HttpOptions) -> None:
        self._options = options
        self._address = parse_address(options.url)
        self._headers = request_headers(options)
        self._deadline = RequestDeadline(options.timeout, options.total_timeout)
        self._connection: http.client.HTTPConnection | None = None

    def path(self, endpoint: str) -> str:
        """The path and query of an endpoint of this server."""
        return join_path(self._address, endpoint, self._options.url_params)

    def post(self, path: str, body: bytes) -> HttpReply:
        """Send a request. If the server has closed a kept connection, a new one is opened once."""
        self._deadline.start()
        was_open = self._connection is not None
        try:
            return self._request(path, body)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            self.close()
            if not was_open:
                raise
        except BaseException:
            self.close()
            raise
        try:
            return self._request(path, body)
        except BaseException:
            self.close()
            raise

    def _request(self, path: str, body: bytes) -> HttpReply:
        connection = self._open_connection()
        headers = {**self._headers, "Content-Length": str(len(body))}
        connection.request("POST", path, self._timed_parts(connection, body), headers)
        response = connection.getresponse()
        content = response.read(_MAX_RESPONSE_BYTES)
        if not response.isclosed() or response.will_close:
            self.close()
        return HttpReply(response.status, content, _parse_seconds(response.getheader("Retry-After")))

    def _open_connection(self) -> http.client.HTTPConnection:
        """The kept connection, or a new one that connects with the first request."""
        if self._connection is None:
            self._connection = create_connection(self._address, self._options)
            deadline = self._deadline

            def timed_response(sock: socket.socket, **arguments: Any) -> http.client.HTTPResponse:
                return http.client.HTTPResponse(_TimedSocket(sock, deadline), **arguments)  # type: ignore[arg-type]

            self._connection.response_class = timed_response  # type: ignore[assignment]
        self._connection.timeout = self._deadline.wait_seconds()
        if self._connection.sock is not None:
            self._connection.sock.settimeout(self._connection.timeout)
        return self._connection

    def _timed_parts(self, connection: http.client.HTTPConnection, body: bytes) -> Iterator[bytes]:
        """The body in parts. Each is sent within the time that is left."""
        for start in range(0, len(body), _SEND_BYTES):
            connection.sock.settimeout(self._deadline.wait_seconds())
            yield body[start : start + _SEND_BYTES]

    def drop_connection(self) -> None:
        """Forget the connection without closing it, because it belongs to the parent process."""
        self._connection = None

    def close(self) -> None:
        """Close the connection. The next request opens another one."""
        with suppress(OSError):
            if self._connection is not None:
                self._connection.close()
        self._connection = None


def _parse_seconds(retry_after: str | None) -> float | None:
    """`Retry-After: 7` → 7.0. A date is ignored."""
    return float(retry_after) if retry_after and retry_after.strip().isdigit() else None


def parse_address(url: str) -> SplitResult:
    """The parts of the server's address. Raises TransportError if it is not an HTTP address."""
    parts = urlsplit(url.strip())
    try:
        is_usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise TransportError(
            f"setting `transport.url`: {redact(url)!r} is not an HTTP address", hint="write http://host:port"
        )
    return parts


def join_path(base: SplitResult, endpoint: str, params: Mapping[str, str]) -> str:
    """The path and query of an endpoint below the server's address."""
    path = quote(f"{base.path.rstrip('/')}/{endpoint.strip().lstrip('/')}", safe="/%:@!$&'()*+,;=~-._")
    query = "&".join(part for part in (base.query, urlencode(params)) if part)
    return f"{path}?{query}" if query else path


def request_headers(options: HttpOptions) -> dict[str, str]:
    """The headers of every request. The user's own override ours."""
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "colline"}
    if options.compression == "gzip":
        headers["Content-Encoding"] = "gzip"
    if options.auth is not None:
        headers["Authorization"] = f"Bearer {options.auth.api_key}"
    headers.update(options.headers)
    for name, value in headers.items():
        if any(character in f"{name}{value}" for character in "\r\n\0"):
            raise TransportError(
                f"setting `transport.headers`: the header {name!r} contains a line break",
                hint="remove it from `transport.headers` or `transport.auth.apiKey`",
            )
    return headers


def create_connection(server: SplitResult, options: HttpOptions) -> http.client.HTTPConnection:
    """A connection that is opened by its first request, through the proxy of the environment if there is one."""
    host = server.hostname or ""
    is_secure = server.scheme == "https"
    port = server.port or (443 if is_secure else 80)
    proxy_url = None if urllib.request.proxy_bypass(host) else urllib.request.getproxies().get(server.scheme)
    proxy = urlsplit(proxy_url if "://" in proxy_url else f"http://{proxy_url}") if proxy_url else None
    first_hop = (proxy.hostname or "", proxy.port or 80) if proxy else (host, port)
    connection: http.client.HTTPConnection
    if is_secure:
        connection = http.client.HTTPSConnection(*first_hop, context=tls_context(options))
    else:
        connection = http.client.HTTPConnection(*first_hop)
    if proxy:
        connection.set_tunnel(host, port)
    return connection


def tls_context(options: HttpOptions) -> ssl.SSLContext:
    """Which certificates a TLS connection trusts, and which one it presents."""
    certificates: SslOptions | None = options.ssl_context
    context = ssl.create_default_context(cafile=certificates.ca_cert_path if certificates else None)
    if certificates and certificates.client_cert_path:
        context.load_cert_chain(certificates.client_cert_path, certificates.client_key_path)
    if not options.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
