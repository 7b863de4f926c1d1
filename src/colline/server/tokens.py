"""Access tokens, stored as digests in one file of the lake. The server reads the file again when it changes.

A token is `colline_{id}_{secret}` with 256 random bits. It cannot be recovered from its SHA-256, so there is no need
for a slow password hash.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal, get_args

import msgspec

from colline.errors import LakeError, SettingError

TokenScope = Literal["send", "read", "admin"]
SCOPES: tuple[TokenScope, ...] = get_args(TokenScope)
_REFRESH_SECONDS = 1.0  # a revoked token works at most this long
_NO_DIGEST = hashlib.sha256(b"").hexdigest()


class AccessToken(msgspec.Struct, frozen=True):
    """A stored token, without its secret."""

    id: str
    label: str
    scopes: tuple[TokenScope, ...]
    digest: str
    created: datetime
    expires: datetime | None = None

    def allows(self, scope: str) -> bool:
        """Whether the token has the scope; `admin` includes all."""
        return scope in self.scopes or "admin" in self.scopes

    def is_expired(self, now: datetime) -> bool:
        """Whether the token has expired."""
        return self.expires is not None and now >= self.expires


class TokenBook:
    """The tokens of one lake. Writes are atomic, and one process writes at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tokens: dict[str, AccessToken] = {}
        self._stamp: tuple[int, int] | None = None
        self._checked = 0.0

    def all(self) -> tuple[AccessToken, ...]:
        """Every token, oldest first."""
        self._refresh()
        return tuple(sorted(self._tokens.values(), key=lambda token: token.created))

    def find(self, secret: str) -> AccessToken | None:
        """The token with this secret, if it is valid."""
        if time.monotonic() - self._checked > _REFRESH_SECONDS:
            self._refresh()
        parts = secret.split("_")
        token = self._tokens.get(parts[1]) if len(parts) == 3 else None
        # the digest is always computed and compared, so that response times do not reveal which ids exist
        is_same = hmac.compare_digest(digest(secret), token.digest if token else _NO_DIGEST)
        if not is_same or token is None or token.is_expired(datetime.now(timezone.utc)):
            return None
        return token

    def create(
        self, label: str, scopes: tuple[TokenScope, ...], expires: datetime | None = None
    ) -> tuple[AccessToken, str]:
        """Creates a token; returns it with its secret, which is not stored."""
        ident = secrets.token_hex(4)
        secret = f"colline_{ident}_{secrets.token_hex(32)}"
        token = AccessToken(ident, label, scopes, digest(secret), datetime.now(timezone.utc), expires)
        with self._edit() as tokens:
            tokens[ident] = token
        return token, secret

    def revoke(self, name: str) -> AccessToken:
        """Removes the token with this id, or with this label if it is unique."""
        with self._edit() as tokens:
            found = [token for token in tokens.values() if name in (token.id, token.label)]
            if len(found) != 1:
                what = "no token" if not found else f"{len(found)} tokens"
                raise SettingError(f"{what} with the id or label `{name}`", hint="`colline token list` shows the ids")
            return tokens.pop(found[0].id)

    def _refresh(self) -> None:
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._tokens, self._stamp, self._checked = {}, None, time.monotonic()
            return
        except OSError as error:
            self._tokens, self._stamp = {}, None
            raise self._unreadable(error.strerror) from error
        stamp = (status.st_ctime_ns, status.st_ino)  # unlike the time of the content, no program can set it back
        if stamp != self._stamp:
            self._tokens, self._stamp = {}, None  # no token is valid while the file is damaged
            self._tokens = self._read()
            self._stamp = stamp
        self._checked = time.monotonic()

    def _read(self) -> dict[str, AccessToken]:
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):  # a named pipe would block the server
                raise self._unreadable("not a file")
            tokens = msgspec.json.decode(self.path.read_bytes(), type=list[AccessToken])
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._unreadable(error.strerror) from error
        except msgspec.DecodeError as error:
            raise self._unreadable(error) from error
        return {token.id: token for token in tokens}

    def _unreadable(self, reason: object) -> LakeError:
        return LakeError(f"cannot read the tokens in {self.path}: {reason}", hint="restore or remove it")

    @contextmanager
    def _edit(self) -> Iterator[dict[str, AccessToken]]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            hint = "the lake must be a folder that this user can write to"
            raise LakeError(f"cannot store tokens in {self.path.parent}: {error.strerror}", hint=hint) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            tokens = self._read()
            yield tokens
            self._write(tokens)
        finally:
            os.close(lock)

    def _write(self, tokens: dict[str, AccessToken]) -> None:
        temporary = self.path.with_suffix(".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(list(tokens.values())), indent=1))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)
        self._stamp = None


def digest(secret: str) -> str:
    """The stored digest of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()
