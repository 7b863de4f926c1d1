"""Resources for agents: the glossary, and the card of a table or job."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import unquote

from mcp.shared.exceptions import MCPError

from colline.mcp.compact_text import CODES
from colline.mcp.tools import ToolReply

GLOSSARY_ADDRESS = "colline://glossary"
_TABLE_PREFIX = "colline://table/"
TABLE_TEMPLATE = _TABLE_PREFIX + "{name}"
_RESOURCE_NOT_FOUND = -32002  # the code that the protocol defines

_CODES = "\n".join(f"| `{code}` | {effect} |" for effect, code in CODES.items())
GLOSSARY = f"""\
# Words of colline

| word | meaning |
|---|---|
| direct | the value of the source is part of the value of the target |
| indirect | the source decides something about the target: a filter, a join key, a condition |
| masked | the original value cannot be recovered after this step |
| `table.*` | the set of rows of a table: filters and join keys lead to it |
| opaque step | code that cannot be analyzed: every output may depend on every input |
| none | lineage is known, and there is nothing |
| unknown | lineage is missing, so nothing can be stated |
| cut | there is more; ask again with the cursor |
| as of | the time whose lineage is shown |

| code | effect |
|---|---|
{_CODES}
| `#` | masked |
"""


async def read_resource(
    address: str, call: Callable[[str, Mapping[str, Any]], Awaitable[ToolReply]]
) -> tuple[str, str]:
    """The media type and the text of a resource."""
    if address == GLOSSARY_ADDRESS:
        return "text/markdown", GLOSSARY
    if not address.startswith(_TABLE_PREFIX) or address == _TABLE_PREFIX:
        known = f"{GLOSSARY_ADDRESS}, {TABLE_TEMPLATE}"
        raise MCPError(_RESOURCE_NOT_FOUND, f"no resource {address[:200]}; known: {known}")
    reply = await call("table", {"name": unquote(address.removeprefix(_TABLE_PREFIX))})
    if reply.is_error:
        raise MCPError(_RESOURCE_NOT_FOUND, reply.text)
    return "text/plain", reply.text
