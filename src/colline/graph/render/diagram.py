"""A picture as SVG, PNG, HTML, Mermaid, Graphviz or plain characters. Names come from strangers: all are escaped."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from colline.errors import SettingError
from colline.graph.render.diagram_layout import HEAD, LINE, WIDTH, Arrow, Box, Picture

COLOURS = {"bronze": "#B0713C", "silver": "#7C8AA0", "gold": "#B98A1D", "platinum": "#5B6B8C"}
_NO_LAYER, _INK, _MUTED, _ACCENT = "#9AA1AC", "#1F2933", "#6B7682", "#0F766E"
_LONGEST = 30


def _short(text: str) -> str:
    """A long name cut in the middle, as its two ends tell most."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 + 1 :]}"


def _colour(box: Box) -> str:
    return COLOURS.get((box.layer or "").lower(), _NO_LAYER)


def _ends(picture: Picture, arrow: Arrow) -> tuple[int, int, int, int]:
    one, two = picture.boxes[arrow.from_box], picture.boxes[arrow.to_box]
    to_y = two.y + HEAD // 2 if arrow.to_head else two.line(arrow.target)
    return one.x + WIDTH, one.line(arrow.source), two.x, to_y


def to_svg(picture: Picture) -> str:
    """A drawing that stands alone: no script, no font, no address in it."""
    size = f'width="{picture.width}" height="{picture.height}" viewBox="0 0 {picture.width} {picture.height}"'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="system-ui,sans-serif" font-size="13" role="img">',
        f"<title>{escape(picture.title)}</title>",
        f'<rect width="{picture.width}" height="{picture.height}" fill="#fff"/>',
        *(_svg_arrow(picture, arrow) for arrow in picture.arrows),
        *(_svg_box(picture, box) for box in picture.boxes),
        "</svg>",
    ]
    return "\n".join(out) + "\n"


def _svg_arrow(picture: Picture, arrow: Arrow) -> str:
    x1, y1, x2, y2 = _ends(picture, arrow)
    bend = max(abs(x2 - x1) // 2, 40)
    way = f"M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
    dash = ' stroke-dasharray="2 4"' if arrow.indirect else ""
    colour = _MUTED if arrow.indirect else "#0E7C3F" if arrow.masking else _INK
    line = f'<path d="{way}" fill="none" stroke="{colour}" stroke-width="1.5"{dash}>'
    line += f"<title>{escape(arrow.text)}{' (masks)' if arrow.masking else ''}</title></path>"
    tip = f'<path d="M{x2} {y2} l-7 -4 l0 8 z" fill="{colour}"/>'
    shield = ""
    if arrow.masking:
        place = f'x="{(x1 + x2) // 2}" y="{(y1 + y2) // 2 - 4}"'
        shield = f'<text {place} text-anchor="middle" fill="{colour}">⛨</text>'
    return line + tip + shield


def _svg_box(picture: Picture, box: Box) -> str:
    name = escape(".".join(box.key))
    out = [
        f'<g><title>{name}</title><rect x="{box.x}" y="{box.y}" width="{WIDTH}" height="{box.height}" rx="8" '
        f'fill="#fff" stroke="#CBD2D9"/>',
        f'<rect x="{box.x}" y="{box.y}" width="{WIDTH}" height="3" fill="{_colour(box)}"/>',
        f'<text x="{box.x + 12}" y="{box.y + 25}" font-weight="600" fill="{_INK}">{escape(_short(box.title))}</text>',
    ]
    for row in box.columns:
        focus = row["id"] in picture.focus
        style = f'font-weight="600" fill="{_ACCENT}"' if focus else f'fill="{_INK}"'
        y = box.line(row["id"]) + 4
        text = f'<text x="{box.x + 12}" y="{y}" font-family="ui-monospace, monospace" font-size="12" {style}>'
        kind = escape(_short(row.get("type") or ""))
        out.append(f"{text}{escape(_short(row['field']))}</text>")
        out.append(
            f'<text x="{box.x + WIDTH - 12}" y="{y}" text-anchor="end" font-size="11" fill="{_MUTED}">{kind}</text>'
        )
    return "".join([*out, "</g>"])


def to_html(picture: Picture) -> str:
    """The drawing in a page with its verdict."""
    more = f"<p>{picture.left_out:,} more columns are not drawn.</p>" if picture.left_out else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>lineage</title>'
        "<style>body{font:14px system-ui;margin:24px;color:#1F2933}h1{font-size:16px}div{overflow:auto}</style>"
        f"</head><body><h1>{escape(picture.title)}</h1>{more}<div>{to_svg(picture)}</div></body></html>\n"
    )


_UNSAFE = re.compile(r'["\\\[\](){}<>|#&;`\n\r]')


def to_mermaid(picture: Picture) -> str:
    """Mermaid text for a Markdown page."""
    out = ["flowchart LR"]
    for number, box in enumerate(picture.boxes):
        out.append(f'  subgraph b{number}["{_mermaid(box.title)}"]')
        out += [f'    c{row["id"]}["{_mermaid(row["field"])}"]' for row in box.columns]
        out.append("  end")
    for arrow in picture.arrows:
        line = "-.->" if arrow.indirect else "==>" if arrow.masking else "-->"
        label = "|masks|" if arrow.masking else ""
        target = f"b{arrow.to_box}" if arrow.to_head else f"c{arrow.target}"
        out.append(f"  c{arrow.source} {line}{label} {target}")
    return "\n".join(out) + "\n"


def _mermaid(text: str) -> str:
    return _UNSAFE.sub(lambda found: f"#{ord(found[0])};", text)


def to_dot(picture: Picture) -> str:
    """Graphviz text: a cluster a table, a node a column."""
    out = ["digraph lineage {", '  rankdir=LR; node [shape=box, fontname="monospace", fontsize=10];']
    for number, box in enumerate(picture.boxes):
        out.append(f"  subgraph cluster_{number} {{ label={_dot(box.title)}; color={_dot(_colour(box))};")
        out += [f"    c{row['id']} [label={_dot(row['field'])}];" for row in box.columns]
        out.append("  }")
    for arrow in picture.arrows:
        style = "dashed" if arrow.indirect else "solid"
        mask = ", color=darkgreen" if arrow.masking else ""
        out.append(f"  c{arrow.source} -> c{arrow.target} [style={style}, tooltip={_dot(arrow.text)}{mask}];")
    return "\n".join([*out, "}"]) + "\n"


def _dot(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ").replace("\r", "")
    return f'"{escaped}"'


def to_png(picture: Picture, scale: int = 2) -> bytes:
    """The drawing as pixels, by Pillow with the font it brings; no browser, no system font."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError as error:
        raise SettingError("a PNG needs Pillow", hint="pip install 'colline[picture]', or write an .svg") from error
    import io

    image = Image.new("RGB", (max(picture.width, 1) * scale, max(picture.height, 1) * scale), "white")
    pen = ImageDraw.Draw(image)
    fonts = {size: ImageFont.load_default(size * scale) for size in (11, 12, 13)}
    for arrow in picture.arrows:
        _png_arrow(pen, picture, arrow, scale)
    for box in picture.boxes:
        _png_box(pen, picture, box, fonts, scale)
    target = io.BytesIO()
    image.save(target, "PNG", optimize=True)
    return target.getvalue()


def _png_arrow(pen: Any, picture: Picture, arrow: Arrow, scale: int) -> None:
    x1, y1, x2, y2 = (value * scale for value in _ends(picture, arrow))
    bend = max(abs(x2 - x1) // 2, 40 * scale)
    points = [_bezier((x1, y1), (x1 + bend, y1), (x2 - bend, y2), (x2, y2), step / 48) for step in range(49)]
    colour = _MUTED if arrow.indirect else "#0E7C3F" if arrow.masking else _INK
    if arrow.indirect:
        for start in range(0, 48, 2):
            pen.line(points[start : start + 2], fill=colour, width=scale)
    else:
        pen.line(points, fill=colour, width=scale + 1)
    pen.polygon([(x2, y2), (x2 - 7 * scale, y2 - 4 * scale), (x2 - 7 * scale, y2 + 4 * scale)], fill=colour)
    if arrow.masking:  # a shield, drawn: the font that Pillow brings has no sign for it
        x, y, r = (x1 + x2) // 2, (y1 + y2) // 2, 5 * scale
        pen.polygon([(x - r, y - r), (x + r, y - r), (x + r, y), (x, y + r), (x - r, y)], fill=colour)


def _bezier(a: Any, b: Any, c: Any, d: Any, t: float) -> tuple[float, float]:
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    x, y = (sum(w * point[axis] for w, point in zip(weights, (a, b, c, d), strict=True)) for axis in (0, 1))
    return x, y


def _png_box(pen: Any, picture: Picture, box: Box, fonts: dict[int, Any], scale: int) -> None:
    left, top = box.x * scale, box.y * scale
    right, bottom = left + WIDTH * scale, top + box.height * scale
    pen.rounded_rectangle((left, top, right, bottom), 8 * scale, fill="white", outline="#CBD2D9", width=scale)
    pen.rectangle((left, top, right, top + 3 * scale), fill=_colour(box))
    pen.text((left + 12 * scale, top + 13 * scale), _short(box.title), fill=_INK, font=fonts[13])
    for row in box.columns:
        y = (box.line(row["id"]) - LINE // 2 + 4) * scale
        colour = _ACCENT if row["id"] in picture.focus else _INK
        pen.text((left + 12 * scale, y), _short(row["field"]), fill=colour, font=fonts[12])
        pen.text((right - 12 * scale, y), _short(row.get("type") or ""), fill=_MUTED, font=fonts[11], anchor="ra")


def to_terminal(picture: Picture, width: int = 100) -> str:
    """A small drawing in characters: the tables layer by layer, and the arrows between them."""
    out: list[str] = []
    seen = -1
    for number, box in enumerate(picture.boxes):
        if box.x != seen:
            out += ["" if seen < 0 else "  │", *(["  ▼"] if seen >= 0 else [])]
            seen = box.x
        out.append(f"┌ {box.title}"[:width])
        for row in box.columns:
            mark = "●" if row["id"] in picture.focus else "·"
            coming = [a for a in picture.arrows if a.to_box == number and not a.to_head and a.target == row["id"]]
            out.append(f"│ {mark} {row['field']}{_from(picture, coming)}"[:width])
        heads = [a for a in picture.arrows if a.to_box == number and a.to_head]
        out += [f"│ rows{_from(picture, heads)}"[:width]] if heads else []
        out.append("└")
    return "\n".join(line for line in out if line or seen < 0).strip("\n")


def _from(picture: Picture, arrows: list[Arrow]) -> str:
    told = []
    for arrow in arrows:
        box = picture.boxes[arrow.from_box]
        name = next(str(row["field"]) for row in box.columns if row["id"] == arrow.source)
        told.append(f"{box.title}.{name}{' ⛨' if arrow.masking else ''}{' (indirect)' if arrow.indirect else ''}")
    return f"  ← {', '.join(told)}" if told else ""


# ending of the file → what is written into it
DRAWINGS: dict[str, Callable[[Picture], str | bytes]] = {
    ".svg": to_svg,
    ".png": to_png,
    ".html": to_html,
    ".mmd": to_mermaid,
    ".dot": to_dot,
}


def save(picture: Picture, path: Path) -> None:
    """Write the picture in the form that the file's ending names."""
    drawing = DRAWINGS.get(path.suffix.lower())
    if drawing is None:
        raise SettingError(
            f"cannot draw a {path.suffix or 'file without an ending'}", hint=f"use {', '.join(DRAWINGS)}"
        )
    content = drawing(picture)
    try:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    except OSError as error:
        raise SettingError(
            f"cannot write {path}: {error.strerror}", hint="give a file in a folder that is there"
        ) from error
