"""`colline mcp`: lineage for agents, over the Model Context Protocol; and its installation in their clients."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from colline.cli.options import lake_option
from colline.cli.print_text import print_json, print_line
from colline.environment.extras import require_package
from colline.errors import LakeError, SettingError

# client → its configuration file, below the home folder or (with a leading dot-slash) the current folder
_CLIENTS: dict[str, str] = {
    "claude-code": "./.mcp.json",
    "claude-desktop": "~/.config/Claude/claude_desktop_config.json",
    "cursor": "~/.cursor/mcp.json",
    "vscode": "./.vscode/mcp.json",
    "windsurf": "~/.codeium/windsurf/mcp_config.json",
}
_MAC_DESKTOP = "~/Library/Application Support/Claude/claude_desktop_config.json"


@click.group(invoke_without_command=True)
@click.option("--lake", envvar="COLLINE_LAKE", metavar="PATH", help="Path or URL of the lake; or set COLLINE_LAKE.")
@click.pass_context
def command(context: click.Context, lake: str | None) -> None:
    """Answer an agent's questions over the Model Context Protocol, on stdin and stdout.

    `colline mcp install` configures the usual clients. `colline serve` offers the same tools at /mcp, over HTTP.
    """
    if context.invoked_subcommand is None:
        if lake is None:
            raise click.UsageError("--lake is missing; or set COLLINE_LAKE")
        _serve_stdio(lake)


def _serve_stdio(lake: str) -> None:
    require_package("mcp")
    import anyio
    from mcp.server.stdio import stdio_server

    from colline.mcp.mcp_server import lake_server

    if "://" not in lake and not Path(lake).is_dir():
        raise LakeError(f"no lake at {lake}", hint="check --lake or COLLINE_LAKE, or run `colline ingest`")
    mcp_server = lake_server(lake)

    async def run() -> None:
        async with stdio_server() as (reader, writer):
            await mcp_server.run(reader, writer, mcp_server.create_initialization_options())

    try:
        anyio.run(run)
    except KeyboardInterrupt:
        click.echo("stopped", err=True)


@command.command()
@lake_option
@click.option(
    "--client",
    type=click.Choice(sorted(_CLIENTS)),
    default="claude-code",
    show_default=True,
    help="The client to configure.",
)
@click.option("--file", "path", type=click.Path(path_type=Path), help="Its configuration file, if it is elsewhere.")
@click.option("--print", "prints", is_flag=True, help="Print the configuration instead of writing it.")
def install(lake: str, client: str, path: Path | None, prints: bool) -> None:
    """Add colline to the configuration of an agent's client. Other entries of the file stay."""
    key = "servers" if client == "vscode" else "mcpServers"
    where = lake if "://" in lake else str(Path(lake).resolve())
    entry = {"command": _program(), "args": [*_module_arguments(), "mcp", "--lake", where]}
    if prints:
        print_json({key: {"colline": entry}}, indent=2)
        return
    target = path or _client_file(client)
    _write_entry(target, key, entry)
    print_line(f"wrote {target}; restart {client} to load it", err=True)


def _program() -> str:
    """The command, by its whole path: a client does not have the PATH of this shell."""
    return shutil.which("colline") or sys.executable


def _module_arguments() -> list[str]:
    return [] if shutil.which("colline") else ["-m", "colline"]


def _client_file(client: str) -> Path:
    name = _MAC_DESKTOP if client == "claude-desktop" and sys.platform == "darwin" else _CLIENTS[client]
    return Path(name).expanduser()


def _write_entry(target: Path, key: str, entry: dict[str, Any]) -> None:
    try:
        text = target.read_text("utf-8") if target.exists() else ""
        settings = json.loads(text) if text.strip() else {}
        servers = settings.setdefault(key, {}) if isinstance(settings, dict) else None
        if not isinstance(servers, dict):
            raise SettingError(f"{target} does not configure MCP servers", hint="use --print, and add it by hand")
        servers["colline"] = entry
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.part")
        temporary.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", "utf-8")
        temporary.replace(target)
    except ValueError as error:
        hint = "correct the file, or use --print and add it by hand"
        raise SettingError(f"{target} is not JSON: {error}", hint=hint) from error
    except OSError as error:
        raise SettingError(f"cannot write {target}: {error.strerror}", hint="use --print, or --file") from error
