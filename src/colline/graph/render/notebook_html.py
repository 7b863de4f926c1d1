"""Answers for notebooks: the verdict, a picture of the tables and their lines if the answer has edges, and a table."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from colline.card_picture import Card, Line, LineKind, card_picture, html_table
from colline.graph.answer import Answer
from colline.graph.render.text import further_tables, headline, main_table, notes
from colline.graph.results import ImpactAnswer, PathsAnswer, PiiAnswer, TableWalkAnswer, WalkAnswer
from colline.graph.rows import ColumnIdentity, EdgeRow
from colline.terminal_text import escape_control_characters

_MAX_CARDS, _MAX_CARD_ROWS, _MAX_COLUMNS = 16, 12, 120
_MAX_OPEN_ROWS = 10
Table = tuple[str, str]  # namespace and name


def to_html(answer: Answer) -> str:
    """The answer as HTML without script, style sheet and links. All names are escaped."""
    picture = _picture(answer)
    headers, cells = main_table(answer)
    folded = f"{len(cells):,} rows" if picture and len(cells) > _MAX_OPEN_ROWS else ""
    tables = [html_table(headers, cells, folded=folded)]
    tables += [html_table(*each, folded=f"{len(each[1]):,} more rows") for each in further_tables(answer)]
    tail = "".join(f"<p>{escape(note)}</p>" for note in notes(answer))
    verdict = escape(escape_control_characters(headline(answer)))
    return f"<div><p><b>{verdict}</b></p>{picture}{''.join(tables)}{tail}</div>"


def _picture(answer: Answer) -> str:
    """The picture of an answer that has edges; empty for any other."""
    if isinstance(answer, WalkAnswer | ImpactAnswer):
        return _column_picture(answer.of, answer.columns, answer.edges)
    if isinstance(answer, PiiAnswer):
        return _column_picture(answer.of, [*answer.landings, *answer.columns], answer.edges)
    if isinstance(answer, PathsAnswer):
        columns = [column for path in answer.paths for column in path.columns]
        return _column_picture(answer.of, columns, [edge for path in answer.paths for edge in path.edges])
    if isinstance(answer, TableWalkAnswer):
        return _table_picture(answer)
    return ""


def _column_picture(
    focus: Iterable[ColumnIdentity], columns: Iterable[ColumnIdentity], edges: Iterable[EdgeRow]
) -> str:
    """The cards of the nearest columns, at most 16 tables with 12 columns each."""
    origins = {column.id: column for column in focus}
    shown = dict(list({**origins, **{column.id: column for column in columns}}.items())[:_MAX_COLUMNS])
    fields: dict[Table, list[ColumnIdentity]] = {}
    for column in shown.values():
        fields.setdefault((column.namespace, column.name), []).append(column)
    tables = {table: number for number, table in enumerate(list(fields)[:_MAX_CARDS])}
    cards = [_card(table, fields[table], frozenset(origins)) for table in tables]
    lines = [line for edge in edges for line in _lines(edge, shown, tables, cards)]
    return card_picture(cards, lines) if lines else ""


def _card(table: Table, columns: list[ColumnIdentity], origins: frozenset[int]) -> Card:
    title = columns[0].label.removesuffix(f".{columns[0].field}")
    rows = tuple(column.field for column in columns[:_MAX_CARD_ROWS])
    marked = frozenset(column.field for column in columns if column.id in origins)
    return Card(title, " ".join(table), rows, marked, max(len(columns) - _MAX_CARD_ROWS, 0))


def _lines(
    edge: EdgeRow, shown: dict[int, ColumnIdentity], tables: dict[Table, int], cards: list[Card]
) -> Iterable[Line]:
    """The line of an edge, if both its cards are drawn. A column that is not shown is represented by its card."""
    one, two = shown.get(edge.from_), shown.get(edge.to)
    if one is None or two is None or edge.from_ == edge.to:
        return
    ends = [(tables.get((column.namespace, column.name)), column.field) for column in (one, two)]
    (source, source_field), (target, target_field) = ends
    if source is None or target is None:
        return
    to_rows = edge.level == "dataset" or target_field not in cards[target].rows
    text = ": ".join(part for part in (edge.subtype.lower(), edge.description) if part)
    start = source_field if source_field in cards[source].rows else None
    yield Line((source, start), (target, None if to_rows else target_field), _kind(edge), text)


def _kind(edge: EdgeRow) -> LineKind:
    return "indirect" if edge.type == "INDIRECT" else "masked" if edge.masking else "direct"


def _table_picture(answer: TableWalkAnswer) -> str:
    """The tables of a walk. Of the tables in the question, edges only have an id, so one can be drawn."""
    reached = answer.datasets[:_MAX_CARDS]
    origins = {(column.namespace, column.name): column for column in answer.of}
    cards = [Card(row.label, f"{row.namespace} {row.name}", ()) for row in reached]
    number = {row.id: place for place, row in enumerate(reached)}
    if len(origins) == 1:
        [(name, column)] = origins.items()
        cards.append(Card(column.label.removesuffix(f".{column.field}"), " ".join(name), ()))
        ends = {end for edge in answer.edges for end in (edge.from_, edge.to)}
        number |= dict.fromkeys(ends - {row.id for row in answer.datasets}, len(reached))
    lines = [
        Line((number[edge.from_], None), (number[edge.to], None), "indirect" if edge.type == "INDIRECT" else "direct")
        for edge in answer.edges
        if edge.from_ in number and edge.to in number and edge.from_ != edge.to
    ]
    return card_picture(cards, lines) if lines else ""
