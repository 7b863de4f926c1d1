"""`colline mcp`: the questions as tools for agents, over stdio."""

from __future__ import annotations

from pathlib import Path

import click

from colline.cli.options import lake_option
from colline.errors import LakeError, SettingError


@click.command()
@lake_option
def command(lake: str) -> None:
    """Answer an agent's questions over the Model Context Protocol, on stdin and stdout.

    Configure an MCP client with this command: colline mcp --lake PATH
    """
    try:
        import anyio
        from mcp.server.stdio import stdio_server

        from colline.mcp.tools import server
    except ImportError as error:
        raise SettingError(f"`colline mcp` needs {error.name}", hint="pip install 'colline[mcp]'") from error
    if "://" not in lake and not Path(lake).is_dir():
        raise LakeError(f"no lake at {lake}", hint="check --lake or COLLINE_LAKE, or run `colline ingest`")
    mcp_server = server(lake)

    async def run() -> None:
        async with stdio_server() as (reader, writer):
            await mcp_server.run(reader, writer, mcp_server.create_initialization_options())

    try:
        anyio.run(run)
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
