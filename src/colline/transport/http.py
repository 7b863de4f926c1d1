"""Events posted to an OpenLineage endpoint over one kept-alive connection.

Several events go to `{endpoint}/batch` in one request as long as the server offers it, one by one otherwise.
"""

from __future__ import annotations

import gzip
import http.client
import ssl
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, quote, urlencode, urlsplit

import msgspec

from colline.errors import TransportError
from colline.transport.interfaces import ARRIVED, Batch, Receipt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from colline.transport.options import HttpOptions, SslOptions

NO_BATCH = frozenset({404, 405, 415, 501})
# The event itself is at fault: sending it again would change nothing. Anything else may pass with time.
AT_FAULT = frozenset({400, 406, 409, 411, 413, 414, 415, 422, 431})
_ANSWER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said."""

    status: int
    body: bytes = b""
    retry_after: float | None = None

    @property
    def is_good(self) -> bool:
        """True for 2xx."""
        return 200 <= self.status < 300

    @property
    def why(self) -> str:
        """The status and the start of the body, for a log line."""
        return f"HTTP {self.status} {self.body[:200].decode(errors='replace').strip()}".strip()


class FailedEvent(msgspec.Struct, frozen=True):
    """One event of a batch that the server did not take."""

    index: int
    reason: str = ""
    retriable: bool = False


class BatchAnswer(msgspec.Struct, frozen=True):
    """What a batch endpoint says about single events. A server that says nothing took them all."""

    failed_events: list[FailedEvent] = []


class HttpSink:
    """One connection to one endpoint."""

    def __init__(self, options: HttpOptions) -> None:
        self._options = options
        self._address = address(options.url)
        self._path = path_of(self._address, options.endpoint, options.url_params)
        self._batch_path = path_of(self._address, options.endpoint.rstrip("/") + "/batch", options.url_params)
        self._headers = headers_of(options)
        self._again = frozenset(options.retry.status_forcelist if options.retry else ())
        self._batches = options.batch != "never"
        self._connection: http.client.HTTPConnection | None = None

    def deliver(self, batch: Batch) -> Receipt:
        """One request for all of them where the server takes batches, else one each."""
        if self._batches and (len(batch.events) > 1 or self._options.batch == "always"):
            receipt = self._deliver_batch(batch.events)
            if receipt is not None:
                return receipt
        return self._deliver_each(batch.events)

    def _deliver_batch(self, events: tuple[bytes, ...]) -> Receipt | None:
        """None when they must go one by one after all."""
        answer = self._post(self._batch_path, b"[" + b",".join(events) + b"]")
        if answer.is_good:
            return _sorted(answer, len(events))
        if answer.status in NO_BATCH and self._options.batch == "auto":
            self._batches = False
            return None
        if answer.status in AT_FAULT:
            told = _sorted(answer, len(events))
            # Without a word on each, one of them is at fault: one by one tells which.
            return told if len(told.refused) == len(events) else None
        return _again(answer, range(len(events)))

    def _deliver_each(self, events: tuple[bytes, ...]) -> Receipt:
        refused: list[tuple[int, str]] = []
        for position, event in enumerate(events):
            try:
                answer = self._post(self._path, event)
            except (OSError, http.client.HTTPException) as error:
                return Receipt(tuple(refused), tuple(range(position, len(events))), f"{type(error).__name__}: {error}")
            if answer.status in AT_FAULT and answer.status not in self._again:
                refused.append((position, answer.why))
            elif not answer.is_good:
                return _again(answer, range(position, len(events)), tuple(refused))
        return Receipt(tuple(refused)) if refused else ARRIVED

    def _post(self, path: str, body: bytes) -> Answer:
        """The server's answer. A kept-alive connection that turns out to be closed is opened once more."""
        if self._options.compression == "gzip":
            body = gzip.compress(body, 6)
        kept = self._connection is not None
        try:
            return self._request(path, body)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            self.close()
            if not kept:
                raise
        except BaseException:
            self.close()
            raise
        try:
            return self._request(path, body)
        except BaseException:
            self.close()
            raise

    def _request(self, path: str, body: bytes) -> Answer:
        if self._connection is None:
            self._connection = connection(self._address, self._options)
        self._connection.request("POST", path, body, self._headers)
        response = self._connection.getresponse()
        answer = Answer(response.status, response.read(_ANSWER_BYTES), _seconds(response.getheader("Retry-After")))
        if not response.isclosed() or response.will_close:
            self.close()
        return answer

    def forget(self) -> None:
        """The socket is the parent's; the child opens its own."""
        self._connection = None

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        with suppress(OSError):
            if self._connection is not None:
                self._connection.close()
        self._connection = None


def _again(answer: Answer, positions: range, refused: tuple[tuple[int, str], ...] = ()) -> Receipt:
    return Receipt(refused, tuple(positions), answer.why, answer.retry_after)


def _sorted(answer: Answer, count: int) -> Receipt:
    """The receipt that a batch endpoint's body amounts to."""
    try:
        failed = msgspec.json.decode(answer.body, type=BatchAnswer).failed_events if answer.body else []
    except msgspec.DecodeError:
        return ARRIVED
    known = [each for each in failed if 0 <= each.index < count]
    refused = tuple((each.index, each.reason) for each in known if not each.retriable)
    again = tuple(sorted({each.index for each in known if each.retriable} - {index for index, _ in refused}))
    return Receipt(refused, again, known[0].reason if known else "", answer.retry_after)


def _seconds(retry_after: str | None) -> float | None:
    """`Retry-After: 7` → 7.0; a date is not waited for."""
    return float(retry_after) if retry_after and retry_after.strip().isdigit() else None


def address(url: str) -> SplitResult:
    """The parts of the server's address; one that cannot be used is an error."""
    parts = urlsplit(url.strip())
    try:
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise TransportError(f"setting `transport.url`: {url!r} is not an http address", hint="http://host:port")
    return parts


def path_of(base: SplitResult, endpoint: str, params: Mapping[str, str]) -> str:
    """Path and query below the server's address."""
    path = quote(f"{base.path.rstrip('/')}/{endpoint.strip().lstrip('/')}", safe="/%:@!$&'()*+,;=~-._")
    query = "&".join(part for part in (base.query, urlencode(params)) if part)
    return f"{path}?{query}" if query else path


def headers_of(options: HttpOptions) -> dict[str, str]:
    """Headers of every request; the user's own come last and win."""
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "colline"}
    if options.compression == "gzip":
        headers["Content-Encoding"] = "gzip"
    if options.auth is not None:
        headers["Authorization"] = f"Bearer {options.auth.api_key}"
    headers.update(options.headers)
    for name, value in headers.items():
        if any(character in f"{name}{value}" for character in "\r\n\0"):
            hint = "take it out of `transport.headers` or `transport.auth.apiKey`"
            raise TransportError(f"setting `transport.headers`: header {name!r} holds a line break", hint=hint)
    return headers


def connection(server: SplitResult, options: HttpOptions) -> http.client.HTTPConnection:
    """A connection that opens on first use, through the proxy that the environment names, if any."""
    host = server.hostname or ""
    secure = server.scheme == "https"
    port = server.port or (443 if secure else 80)
    proxy = None if urllib.request.proxy_bypass(host) else urllib.request.getproxies().get(server.scheme)
    via = urlsplit(proxy if "://" in proxy else f"http://{proxy}") if proxy else None
    first = (via.hostname or "", via.port or 80) if via else (host, port)
    made: http.client.HTTPConnection
    if secure:
        made = http.client.HTTPSConnection(*first, timeout=options.timeout, context=context(options))
    else:
        made = http.client.HTTPConnection(*first, timeout=options.timeout)
    if via:
        made.set_tunnel(host, port)
    return made


def context(options: HttpOptions) -> ssl.SSLContext:
    """What a TLS connection trusts and presents."""
    given: SslOptions | None = options.ssl_context
    made = ssl.create_default_context(cafile=given.ca_cert_path if given else None)
    if given and given.client_cert_path:
        made.load_cert_chain(given.client_cert_path, given.client_key_path)
    if not options.verify:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    return made
