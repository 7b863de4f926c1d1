"""Draws a picture as SVG, HTML, Mermaid or Graphviz DOT. All names are escaped."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape as escape_html
from pathlib import Path

from colline.errors import SettingError
from colline.graph.answer import count_of
from colline.graph.render.diagram_layout import HEAD, MARGIN, WIDTH, Arrow, Box, Picture
from colline.graph.render.diagram_routes import Curve, routes
from colline.terminal_text import escape_control_characters

COLORS = {"bronze": "#B0713C", "silver": "#7C8AA0", "gold": "#B98A1D", "platinum": "#5B6B8C"}
_NO_LAYER, _INK, _MUTED, _ACCENT = "#9AA1AC", "#1F2933", "#6B7682", "#0F766E"
_MASKED = "#0E7C3F"
_FONT = "system-ui,Segoe UI,Helvetica,Arial,DejaVu Sans,sans-serif"
_NOTE_HEIGHT = 24
_MAX_CHARACTERS, _TEXT_CHARACTERS, _JOB_CHARACTERS = 30, 24, 18


def _shorten(text: str, most: int = _MAX_CHARACTERS) -> str:
    """A long text without its middle."""
    text = escape_control_characters(text)
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-(most // 2 - 1) :]}"


def _escape(text: str) -> str:
    return escape_html(escape_control_characters(text))


def _color(box: Box) -> str:
    return COLORS.get((box.layer or "").lower(), _NO_LAYER)


def to_svg(picture: Picture) -> str:
    """An SVG file without scripts, fonts or links, that fits the window it is opened in."""
    height = picture.height + (_NOTE_HEIGHT if picture.left_out else 0)
    size = f'width="{picture.width}" height="{height}" viewBox="0 0 {picture.width} {height}"'
    fit = 'style="max-width:100%;max-height:100vh;width:auto;height:auto"'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {fit} font-family="{_FONT}" font-size="13" role="img">',
        f"<title>{_escape(picture.title)}</title>",
        f'<rect width="{picture.width}" height="{height}" fill="#fff"/>',
        *(_svg_arrow(arrow, curves) for arrow, curves in zip(picture.arrows, routes(picture), strict=True)),
        *_svg_labels(picture),
        *(_svg_box(picture, box) for box in picture.boxes),
        *([_svg_note(picture)] if picture.left_out else []),
        "</svg>",
    ]
    return "\n".join(out) + "\n"


def _omitted_note(picture: Picture) -> str:
    return f"{count_of(picture.left_out, 'more column is', 'more columns are')} not drawn."


def _svg_note(picture: Picture) -> str:
    return f'<text x="{MARGIN}" y="{picture.height + 4}" fill="{_MUTED}">{_omitted_note(picture)}</text>'


def _svg_arrow(arrow: Arrow, curves: tuple[Curve, ...]) -> str:
    (x1, y1), *_ = curves[0]
    (x2, y2), before = curves[-1][3], curves[-1][2]
    path = f"M{x1:g} {y1:g}" + "".join(" C" + " ".join(f"{x:g} {y:g}" for x, y in curve[1:]) for curve in curves)
    dash = ' stroke-dasharray="2 4"' if arrow.indirect else ""
    color = _arrow_color(arrow)
    line = f'<path d="{path}" fill="none" stroke="{color}" stroke-width="1.5"{dash}>'
    line += f"<title>{_escape(_arrow_text(arrow))}</title></path>"
    back = 7 if before[0] > x2 else -7
    return line + f'<path d="M{x2:g} {y2:g} l{back} -4 l0 8 z" fill="{color}"/>'


def _arrow_color(arrow: Arrow) -> str:
    return _MUTED if arrow.indirect else _MASKED if arrow.masking else _INK


def _arrow_text(arrow: Arrow) -> str:
    """The expression, whether it masks, and the job."""
    return f"{arrow.text}{' (masked)' if arrow.masking else ''}{f' by {arrow.job}' if arrow.job else ''}"


def _svg_labels(picture: Picture) -> list[str]:
    """The expression and the job of each column, at the end of its arrows; they are the same for most sources."""
    arriving: dict[tuple[int, int | None], list[Arrow]] = {}
    for arrow in picture.arrows:
        if arrow.from_box != arrow.to_box:
            arriving.setdefault((arrow.to_box, None if arrow.to_head else arrow.target), []).append(arrow)
    return [_svg_label(picture.boxes[place], column, arrows) for (place, column), arrows in arriving.items()]


def _svg_label(box: Box, column: int | None, arrows: list[Arrow]) -> str:
    y = (box.y + HEAD // 2 if column is None else box.line(column)) - 4
    texts = list(dict.fromkeys(f"{arrow.text}{' (masked)' if arrow.masking else ''}" for arrow in arrows))
    jobs = list(dict.fromkeys(arrow.job for arrow in arrows if arrow.job))
    color = _MUTED if all(arrow.indirect for arrow in arrows) else _arrow_color(arrows[0])
    job = f" · {_shorten(jobs[0], _JOB_CHARACTERS)}" if jobs else ""
    return (
        f'<text x="{box.x - 12}" y="{y}" text-anchor="end" font-size="10" fill="{color}" stroke="#fff"'
        f' stroke-width="3" paint-order="stroke">{_escape(_shorten(", ".join(texts), _TEXT_CHARACTERS))}{_escape(job)}'
        f"<title>{_escape(', '.join(texts))} by {_escape(', '.join(jobs) or '?')}</title></text>"
    )


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
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>lineage</title>'
        "<style>body{font:14px system-ui,sans-serif;margin:24px;color:#1F2933}h1{font-size:16px}"
        "svg{max-height:calc(100vh - 96px)!important}</style>"
        f"</head><body><h1>{_escape(picture.title)}</h1><div>{to_svg(picture)}</div></body></html>\n"
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
        label = f'|"{_mermaid(_arrow_text(arrow))}"|'
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
        out.append(f"  c{arrow.source} -> c{arrow.target} [style={style}, label={_dot(_arrow_text(arrow))}{mask}];")
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
