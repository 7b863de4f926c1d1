"""Draws a picture as SVG, HTML, Mermaid or Graphviz DOT. All names are escaped."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape as escape_html
from pathlib import Path

from colline.errors import SettingError
from colline.graph.render.diagram_layout import HEAD, WIDTH, Arrow, Box, Picture
from colline.terminal_text import escape_control_characters

COLORS = {"bronze": "#B0713C", "silver": "#7C8AA0", "gold": "#B98A1D", "platinum": "#5B6B8C"}
_NO_LAYER, _INK, _MUTED, _ACCENT = "#9AA1AC", "#1F2933", "#6B7682", "#0F766E"
_MAX_CHARACTERS = 30


def _shorten(text: str) -> str:
    """A long name without its middle."""
    text = escape_control_characters(text)
    if len(text) <= _MAX_CHARACTERS:
        return text
    return f"{text[: _MAX_CHARACTERS // 2]}…{text[-_MAX_CHARACTERS // 2 + 1 :]}"


def _escape(text: str) -> str:
    return escape_html(escape_control_characters(text))


def _color(box: Box) -> str:
    return COLORS.get((box.layer or "").lower(), _NO_LAYER)


def _ends(picture: Picture, arrow: Arrow) -> tuple[int, int, int, int]:
    one, two = picture.boxes[arrow.from_box], picture.boxes[arrow.to_box]
    to_y = two.y + HEAD // 2 if arrow.to_head else two.line(arrow.target)
    return one.x + WIDTH, one.line(arrow.source), two.x, to_y


def to_svg(picture: Picture) -> str:
    """An SVG file without scripts, fonts or links."""
    size = f'width="{picture.width}" height="{picture.height}" viewBox="0 0 {picture.width} {picture.height}"'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="system-ui,sans-serif" font-size="13" role="img">',
        f"<title>{_escape(picture.title)}</title>",
        f'<rect width="{picture.width}" height="{picture.height}" fill="#fff"/>',
        *(_svg_arrow(picture, arrow) for arrow in picture.arrows),
        *(_svg_box(picture, box) for box in picture.boxes),
        "</svg>",
    ]
    return "\n".join(out) + "\n"


def _svg_arrow(picture: Picture, arrow: Arrow) -> str:
    x1, y1, x2, y2 = _ends(picture, arrow)
    bend = max(abs(x2 - x1) // 2, 40)
    curve = f"M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
    dash = ' stroke-dasharray="2 4"' if arrow.indirect else ""
    color = _MUTED if arrow.indirect else "#0E7C3F" if arrow.masking else _INK
    line = f'<path d="{curve}" fill="none" stroke="{color}" stroke-width="1.5"{dash}>'
    line += f"<title>{_escape(arrow.text)}{' (masks)' if arrow.masking else ''}</title></path>"
    tip = f'<path d="M{x2} {y2} l-7 -4 l0 8 z" fill="{color}"/>'
    shield = ""
    if arrow.masking:
        place = f'x="{(x1 + x2) // 2}" y="{(y1 + y2) // 2 - 4}"'
        shield = f'<text {place} text-anchor="middle" fill="{color}">⛨</text>'
    return line + tip + shield


def _svg_box(picture: Picture, box: Box) -> str:
    name, title = _escape(".".join(box.key)), _escape(_shorten(box.title))
    out = [
        f'<g><title>{name}</title><rect x="{box.x}" y="{box.y}" width="{WIDTH}" height="{box.height}" rx="8" '
        f'fill="#fff" stroke="#CBD2D9"/>',
        f'<rect x="{box.x}" y="{box.y}" width="{WIDTH}" height="3" fill="{_color(box)}"/>',
        f'<text x="{box.x + 12}" y="{box.y + 25}" font-weight="600" fill="{_INK}">{title}</text>',
    ]
    for row in box.columns:
        focus = row.id in picture.focus
        style = f'font-weight="600" fill="{_ACCENT}"' if focus else f'fill="{_INK}"'
        y = box.line(row.id) + 4
        text = f'<text x="{box.x + 12}" y="{y}" font-family="ui-monospace, monospace" font-size="12" {style}>'
        kind = _escape(_shorten(getattr(row, "type", None) or ""))
        out.append(f"{text}{_escape(_shorten(row.field))}</text>")
        out.append(
            f'<text x="{box.x + WIDTH - 12}" y="{y}" text-anchor="end" font-size="11" fill="{_MUTED}">{kind}</text>'
        )
    return "".join([*out, "</g>"])


def to_html(picture: Picture) -> str:
    """An HTML page with the drawing and its verdict."""
    more = f"<p>{picture.left_out:,} more columns are not drawn.</p>" if picture.left_out else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>lineage</title>'
        "<style>body{font:14px system-ui;margin:24px;color:#1F2933}h1{font-size:16px}div{overflow:auto}</style>"
        f"</head><body><h1>{_escape(picture.title)}</h1>{more}<div>{to_svg(picture)}</div></body></html>\n"
    )


_UNSAFE = re.compile(r'["\\\[\](){}<>|#&;`\n\r]')


def to_mermaid(picture: Picture) -> str:
    """Mermaid source, for a Markdown page."""
    out = ["flowchart LR"]
    for number, box in enumerate(picture.boxes):
        out.append(f'  subgraph b{number}["{_mermaid(box.title)}"]')
        out += [f'    c{row.id}["{_mermaid(row.field)}"]' for row in box.columns]
        out.append("  end")
    for arrow in picture.arrows:
        line = "-.->" if arrow.indirect else "==>" if arrow.masking else "-->"
        label = "|masks|" if arrow.masking else ""
        target = f"b{arrow.to_box}" if arrow.to_head else f"c{arrow.target}"
        out.append(f"  c{arrow.source} {line}{label} {target}")
    return "\n".join(out) + "\n"


def _mermaid(text: str) -> str:
    return _UNSAFE.sub(lambda found: f"#{ord(found[0])};", escape_control_characters(text))


def to_dot(picture: Picture) -> str:
    """Graphviz source: a cluster for each table, a node for each column."""
    out = ["digraph lineage {", '  rankdir=LR; node [shape=box, fontname="monospace", fontsize=10];']
    for number, box in enumerate(picture.boxes):
        out.append(f"  subgraph cluster_{number} {{ label={_dot(box.title)}; color={_dot(_color(box))};")
        out += [f"    c{row.id} [label={_dot(row.field)}];" for row in box.columns]
        out.append("  }")
    for arrow in picture.arrows:
        style = "dashed" if arrow.indirect else "solid"
        mask = ", color=darkgreen" if arrow.masking else ""
        out.append(f"  c{arrow.source} -> c{arrow.target} [style={style}, tooltip={_dot(arrow.text)}{mask}];")
    return "\n".join([*out, "}"]) + "\n"


def _dot(text: str) -> str:
    escaped = escape_control_characters(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# file extension → content
FORMATS: dict[str, Callable[[Picture], str]] = {".svg": to_svg, ".html": to_html, ".mmd": to_mermaid, ".dot": to_dot}


def save(picture: Picture, path: Path) -> None:
    """Writes the picture in the format of the file extension."""
    draw = FORMATS.get(path.suffix.lower())
    if draw is None:
        raise SettingError(f"cannot draw {path.name}: unknown file extension", hint=f"use {', '.join(FORMATS)}")
    try:
        path.write_text(draw(picture), encoding="utf-8")
    except OSError as error:
        raise SettingError(f"cannot write {path}: {error.strerror}", hint="check that the folder exists") from error
