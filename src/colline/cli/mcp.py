"""`colline mcp`: the questions as tools for agents, over stdio."""

from __future__ import annotations

from pathlib import Path

import click

from colline.errors import LakeError, SettingError


@click.command()
@click.option("--lake", envvar="COLLINE_LAKE", required=True, metavar="PATH", help="The lake.")
def command(lake: str) -> None:
    """Answer questions of an agent over the Model Context Protocol, on stdin and stdout.

    Give an MCP client this command: colline mcp --lake PATH
    """
    try:
        import anyio
        from mcp.server.stdio import stdio_server

        from colline.mcp.tools import server
    except ImportError as error:
        raise SettingError(f"this needs {error.name}", hint="pip install 'colline[mcp]'") from error
    if "://" not in lake and not Path(lake).is_dir():
        raise LakeError(f"no lake at {lake}", hint="check --lake or COLLINE_LAKE, or run `colline ingest`")
    made = server(lake)

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            await made.run(reading, writing, made.create_initialization_options())

    try:
        anyio.run(run)
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
