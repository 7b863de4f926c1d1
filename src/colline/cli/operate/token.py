"""`colline token`: manages the tokens of a server."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from colline.cli.print_text import print_line, print_table
from colline.errors import LakeError
from colline.server.tokens import SCOPES

if TYPE_CHECKING:
    from colline.server.tokens import AccessToken, TokenBook


def _folder(_: click.Context, __: click.Parameter, value: str) -> Path:
    """The folder with the server's files of a lake."""
    from colline.server.server_settings import server_folder

    return server_folder(value)


_lake = click.option(
    "--lake",
    envvar="COLLINE_LAKE",
    required=True,
    callback=_folder,
    metavar="PATH",
    help="The lake (or COLLINE_LAKE).",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def command() -> None:
    """Create, list and revoke the tokens of `colline serve`.

    A token is shown once, when it is created; the lake stores only its digest.
    """


@command.command()
@_lake
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(SCOPES),
    default=["send"],
    show_default=True,
    help="What the token allows. Repeatable.",
)
@click.option("--label", default="", help="Who or what the token is for.")
@click.option("--days", type=click.IntRange(1, 36_500), metavar="N", help="Expires after N days; never by default.")
@_json
def create(lake: Path, scopes: tuple[Any, ...], label: str, days: int | None, *, as_json: bool) -> None:
    """Create a token and print it."""
    expires = datetime.now(timezone.utc) + timedelta(days=days) if days else None
    token, secret = _open_token_book(lake).create(label, tuple(dict.fromkeys(scopes)), expires)
    if as_json:
        click.echo(json.dumps({**_facts(token), "token": secret}))
        return
    click.echo(secret)
    click.echo(f"id {token.id}, scopes: {', '.join(token.scopes)}; the token is not shown again", err=True)


@command.command("list")
@_lake
@_json
def list_tokens(lake: Path, as_json: bool) -> None:
    """List the tokens without their secrets."""
    facts = [_facts(token) for token in _open_token_book(_existing_lake(lake)).all()]
    if as_json:
        click.echo(json.dumps(facts))
        return
    if not facts:
        click.echo("no tokens; `colline token create` creates one", err=True)
        return
    rows = [
        (row["id"], ", ".join(row["scopes"]), row["created"], row["expires"] or "never", row["label"]) for row in facts
    ]
    print_table(("id", "scopes", "created", "expires", "label"), rows)


@command.command()
@_lake
@click.argument("token")
@_json
def revoke(lake: Path, token: str, as_json: bool) -> None:
    """Revoke the token with this id or label; servers refuse it within a second."""
    revoked = _facts(_open_token_book(_existing_lake(lake)).revoke(token))
    if as_json:
        click.echo(json.dumps(revoked))
    else:
        print_line(f"revoked {revoked['id']} {revoked['label']}".rstrip())


def _existing_lake(lake: Path) -> Path:
    if not lake.is_dir():
        raise LakeError(f"no lake at {lake}", hint="check --lake or COLLINE_LAKE")
    return lake


def _open_token_book(lake: Path) -> TokenBook:
    from colline.server.server_settings import token_file
    from colline.server.tokens import TokenBook

    return TokenBook(token_file(lake))


def _facts(token: AccessToken) -> dict[str, Any]:
    return {
        "id": token.id,
        "label": token.label,
        "scopes": list(token.scopes),
        "created": f"{token.created:%Y-%m-%dT%H:%M:%SZ}",
        "expires": f"{token.expires:%Y-%m-%dT%H:%M:%SZ}" if token.expires else None,
    }
