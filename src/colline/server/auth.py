"""Before a request reaches its endpoint: is it from where it may be, and may its sender do this?"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import Scope

from colline.server.endpoints import AccessScope
from colline.server.http_errors import Problem
from colline.server.receive.body import header
from colline.server.server_settings import LOCAL_HOSTS, ServeSettings
from colline.server.tokens import TokenBook


@dataclass(frozen=True, slots=True)
class Guard:
    """The checks that come before any endpoint."""

    tokens: TokenBook | None  # None: loopback, no token asked for
    hosts: frozenset[str] | None  # None: any
    origins: frozenset[str]

    @classmethod
    def from_settings(cls, settings: ServeSettings, tokens: TokenBook) -> Guard:
        """A token where one is needed; without one, only names of this machine, against rebound DNS names."""
        asks = settings.asks_for_token
        hosts = LOCAL_HOSTS | settings.allowed_hosts if settings.allowed_hosts or not asks else None
        return cls(tokens if asks else None, hosts, frozenset(settings.cors_origins))

    def check(self, scope: Scope, needed: AccessScope) -> str | None:
        """The id of the token that was used, if any; a Problem if the request may not be made."""
        self._check_host(scope)
        self._check_origin(scope)
        if self.tokens is None or needed == "open":
            return None
        kind, _, secret = (header(scope, b"authorization") or "").partition(" ")
        token = self.tokens.find(secret.strip()) if kind.lower() == "bearer" else None
        if token is None:
            hint = "send `Authorization: Bearer TOKEN`; `colline token create` makes one"
            raise Problem(401, "no_token", "a valid token is needed", hint=hint)
        if not token.allows(needed):
            hint = f"make one with `colline token create --scope {needed}`"
            raise Problem(403, "wrong_scope", f"token {token.id} does not have the scope `{needed}`", hint=hint)
        return token.id

    def _check_host(self, scope: Scope) -> None:
        if self.hosts is None:
            return
        host = header(scope, b"host") or ""
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if name.lower() not in self.hosts:
            hint = "use localhost, or start with --allowed-host NAME"
            raise Problem(403, "wrong_scope", f"host `{host[:80]}` is not served here", hint=hint)

    def _check_origin(self, scope: Scope) -> None:
        """A page of another site may not post or read through a person's browser."""
        origin = header(scope, b"origin")
        if origin is None or origin in self.origins:
            return
        if origin.partition("://")[2] != (header(scope, b"host") or ""):
            hint = "start with --cors-origin ORIGIN to allow it"
            raise Problem(403, "wrong_scope", f"origin `{origin[:80]}` is not allowed", hint=hint)
