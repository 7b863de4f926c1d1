"""Access checks before every endpoint: host, origin, and the scope of the token."""

from __future__ import annotations

import re
from dataclasses import dataclass

from starlette.types import Scope

from colline.errors import LakeError
from colline.server.endpoints import AccessScope
from colline.server.http_errors import Problem
from colline.server.receive.body import header
from colline.server.server_settings import LOCAL_HOSTS, ServeSettings
from colline.server.tokens import TokenBook

# a name, an IPv4 address or an IPv6 address in brackets, and a port
_HOST = re.compile(r"(?P<name>[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::(?P<port>\d{1,5}))?")
_MAX_PORT = 65535


@dataclass(frozen=True, slots=True)
class Guard:
    """Checks the host, the origin and the token of a request."""

    tokens: TokenBook | None  # None: loopback, no token needed
    hosts: frozenset[str] | None  # None: any host
    origins: frozenset[str]

    @classmethod
    def from_settings(cls, settings: ServeSettings, tokens: TokenBook) -> Guard:
        """The checks for these settings. Without tokens only local host names are allowed, against DNS rebinding."""
        needs_token = settings.requires_token
        hosts = LOCAL_HOSTS | settings.allowed_hosts if settings.allowed_hosts or not needs_token else None
        return cls(tokens if needs_token else None, hosts, frozenset(settings.cors_origins))

    def check(self, scope: Scope, needed: AccessScope) -> str | None:
        """The id of the token, if any; raises a Problem if the request is not allowed."""
        self._check_host(scope)
        self._check_origin(scope)
        if self.tokens is None or needed == "open":
            return None
        kind, _, secret = (header(scope, b"authorization") or "").partition(" ")
        try:
            token = self.tokens.find(secret.strip()) if kind.lower() == "bearer" else None
        except LakeError as error:  # the file of tokens is damaged
            raise Problem(503, "fault", "the tokens of this lake cannot be read", hint=error.hint) from error
        if token is None:
            hint = "send `Authorization: Bearer TOKEN`; `colline token create` creates one"
            raise Problem(401, "no_token", "a valid token is required", hint=hint)
        if not token.allows(needed):
            hint = f"create one with `colline token create --scope {needed}`"
            raise Problem(403, "wrong_scope", f"token {token.id} does not have the scope `{needed}`", hint=hint)
        return token.id

    def _check_host(self, scope: Scope) -> None:
        if self.hosts is None:
            return
        host = header(scope, b"host") or ""
        found = _HOST.fullmatch(host)
        is_valid = found is not None and int(found["port"] or 0) <= _MAX_PORT and _count(scope, b"host") == 1
        if found is None or not is_valid or found["name"].lower() not in self.hosts:
            hint = "use localhost, or start with --allowed-host NAME"
            raise Problem(403, "wrong_scope", f"host `{host[:80]}` is not served here", hint=hint)

    def _check_origin(self, scope: Scope) -> None:
        """Refuses requests that pages of other sites make in a user's browser."""
        origin = header(scope, b"origin")
        if origin is None or origin in self.origins:
            return
        if origin.partition("://")[2] != (header(scope, b"host") or ""):
            hint = "start with --cors-origin ORIGIN to allow it"
            raise Problem(403, "wrong_scope", f"origin `{origin[:80]}` is not allowed", hint=hint)


def _count(scope: Scope, name: bytes) -> int:
    return sum(key == name for key, _ in scope["headers"])
