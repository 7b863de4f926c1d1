"""Who may do what: tokens, kept as digests in one file of the lake, read again when it changes.

A token is `colline_{id}_{secret}` with 256 random bits, so a plain SHA-256 of it cannot be guessed back; a slow
password hash would only slow the receiver down.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import secrets
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
_CHECK_SECONDS = 1.0  # how soon a revoked token stops working
_NOBODY = hashlib.sha256(b"").hexdigest()


class Token(msgspec.Struct, frozen=True):
    """A token as it is kept: never the secret itself."""

    id: str
    label: str
    scopes: tuple[TokenScope, ...]
    digest: str
    created: datetime
    expires: datetime | None = None

    def allows(self, scope: str) -> bool:
        """Whether it may be used for this; `admin` may do all."""
        return scope in self.scopes or "admin" in self.scopes

    def is_expired(self, now: datetime) -> bool:
        """Whether its time is over."""
        return self.expires is not None and now >= self.expires


class TokenBook:
    """The tokens of one lake. Reading is cheap; writing is one process at a time and whole or not at all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tokens: dict[str, Token] = {}
        self._stamp: tuple[int, int] | None = None
        self._checked = 0.0

    def all(self) -> tuple[Token, ...]:
        """Every token, oldest first."""
        self._refresh()
        return tuple(sorted(self._tokens.values(), key=lambda token: token.created))

    def find(self, secret: str) -> Token | None:
        """The token this secret belongs to, if it is valid now."""
        if time.monotonic() - self._checked > _CHECK_SECONDS:
            self._refresh()
        parts = secret.split("_")
        token = self._tokens.get(parts[1]) if len(parts) == 3 else None
        # the digest is always made and compared, so that time tells nothing about which ids exist
        same = hmac.compare_digest(digest(secret), token.digest if token else _NOBODY)
        if not same or token is None or token.is_expired(datetime.now(timezone.utc)):
            return None
        return token

    def create(self, label: str, scopes: tuple[TokenScope, ...], expires: datetime | None = None) -> tuple[Token, str]:
        """A new token and its secret, which is shown now and never again."""
        ident = secrets.token_hex(4)
        secret = f"colline_{ident}_{secrets.token_hex(32)}"
        token = Token(ident, label, scopes, digest(secret), datetime.now(timezone.utc), expires)
        with self._changing() as tokens:
            tokens[ident] = token
        return token, secret

    def revoke(self, name: str) -> Token:
        """Take away the token with this id, or this label if only one has it."""
        with self._changing() as tokens:
            found = [token for token in tokens.values() if name in (token.id, token.label)]
            if len(found) != 1:
                what = "no token" if not found else f"{len(found)} tokens"
                raise SettingError(f"{what} with the id or label `{name}`", hint="`colline token list` shows the ids")
            return tokens.pop(found[0].id)

    def _refresh(self) -> None:
        self._checked = time.monotonic()
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._tokens, self._stamp = {}, None
            return
        if self._stamp != (status.st_mtime_ns, status.st_ino):
            self._tokens = self._read()
            self._stamp = (status.st_mtime_ns, status.st_ino)

    def _read(self) -> dict[str, Token]:
        try:
            tokens = msgspec.json.decode(self.path.read_bytes(), type=list[Token])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError) as error:
            raise LakeError(f"cannot read the tokens in {self.path}: {error}", hint="restore or remove it") from error
        return {token.id: token for token in tokens}

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Token]]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            hint = "the lake must be a folder that this user may write to"
            raise LakeError(f"cannot keep tokens in {self.path.parent}: {error.strerror}", hint=hint) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            tokens = self._read()
            yield tokens
            self._write(tokens)
        finally:
            os.close(lock)

    def _write(self, tokens: dict[str, Token]) -> None:
        fresh = self.path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(list(tokens.values())), indent=1))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self.path)
        self._stamp = None


def digest(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()
