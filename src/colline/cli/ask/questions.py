"""Query commands, generated from the question registry: `colline upstream`, `colline pii`, and so on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from colline.cli.options import complete_column, complete_table, lake_option, open_lake, print_answer
from colline.cli.print_text import print_line
from colline.graph.queries.registry import BY_NAME, LIMIT, Parameter, Question

if TYPE_CHECKING:
    from colline.graph.results import CoverageAnswer

_FORMATS = (
    click.Option(["--json", "json"], is_flag=True, help="Print the answer as JSON."),
    click.Option(["--csv", "csv"], is_flag=True, help="Print the rows as CSV."),
    click.Option(["--markdown", "markdown"], is_flag=True, help="Print the answer as Markdown."),
)
_TREE = click.Option(["--tree", "tree"], is_flag=True, help="Draw the columns as a tree.")
_COUNTS = click.Option(
    ["--by", "count_by"],
    type=click.Choice(["kind", "job", "layer", "owner"]),
    help="Count the gaps by this instead of listing them.",
)
# options that only change how the CLI prints an answer
_PRINT_OPTIONS = {"upstream": (_TREE,), "downstream": (_TREE,), "coverage": (_COUNTS,)}
_COMPLETIONS = {"column": complete_column, "table": complete_table}
_METAVARS = {"time": "T", "integer": "N", "sql": "FILE"}


def build_command(name: str) -> click.Command:
    """The command of a question."""
    question = BY_NAME[name]
    command = click.Command(
        question.name,
        callback=_callback(question),
        params=[*map(_click_parameter, question.parameters), *_PRINT_OPTIONS.get(name, ()), *_FORMATS],
        help=f"{question.summary}\n\n{question.description}",
        short_help=question.summary,
    )
    return lake_option(command)


def _click_parameter(parameter: Parameter) -> click.Parameter:
    kind = _click_type(parameter)
    if parameter.positional:
        metavar = parameter.metavar or ("COLUMN" if parameter.kind == "column" else parameter.name.upper())
        shown = metavar if parameter.required else f"[{metavar}]"
        return click.Argument(
            [parameter.keyword],
            type=kind,
            required=parameter.required,
            nargs=-1 if parameter.repeatable else 1,
            metavar=f"{shown}..." if parameter.repeatable else shown,
            shell_complete=_COMPLETIONS.get(parameter.kind),
        )
    name = parameter.option or parameter.name.replace("_", "-")
    declarations = [name if name.startswith("-") else f"--{name}", parameter.keyword]
    if parameter.kind == "boolean":
        default = parameter.default
        return click.Option(declarations, is_flag=True, default=default, flag_value=not default, help=_help(parameter))
    is_pair = parameter.repeatable and parameter.minimum == parameter.maximum == 2
    return click.Option(
        declarations,
        type=kind,
        default=parameter.default,
        show_default=parameter.default is not None,
        multiple=parameter.repeatable and not is_pair,
        nargs=2 if is_pair else 1,
        metavar=parameter.metavar or _METAVARS.get(parameter.kind),
        help=_help(parameter),
    )


def _help(parameter: Parameter) -> str:
    if parameter.kind == "boolean" and parameter.default:
        return "Leave out indirect lineage, such as join keys, filters and groupings."
    if parameter is LIMIT:
        return f"{parameter.help}; 0 means all."
    if parameter.kind == "time":
        return f"{parameter.help}."
    return f"{parameter.help}. Repeatable." if parameter.repeatable and not parameter.maximum else f"{parameter.help}."


def _click_type(parameter: Parameter) -> click.ParamType[Any]:
    if parameter.kind == "integer":
        return click.IntRange(parameter.minimum, parameter.maximum)
    if parameter.kind == "choice":
        return click.Choice(parameter.choices)
    if parameter.kind == "sql":
        return click.File(encoding="utf-8")
    return click.STRING


def _callback(question: Question) -> Callable[..., None]:
    def run(lake: str, count_by: str | None = None, **given: Any) -> None:
        output_format = _output_format(given, count_by)
        _check_alternatives(question, given)
        arguments = {each.keyword: _argument(each, given[each.keyword]) for each in question.parameters}
        answer = getattr(open_lake(lake), question.name)(**arguments)
        if count_by is not None:
            _print_counts(answer, count_by)
            return
        if output_format == "tree" and answer.main != "columns":
            raise click.UsageError("--tree needs --grain column")
        print_answer(answer, output_format)

    return run


def _output_format(given: dict[str, Any], count_by: str | None) -> str | None:
    """The output format; None for text. Two at once are an error."""
    formats = [name for name in ("json", "csv", "markdown", "tree") if given.pop(name, False)]
    options = [f"--{name}" for name in formats] + ["--by"] * (count_by is not None)
    if len(options) > 1:
        raise click.UsageError(f"{' and '.join(options)} were given: choose one output format")
    return formats[0] if formats else None


def _check_alternatives(question: Question, given: dict[str, Any]) -> None:
    alternatives = [each for each in question.parameters if each.name in question.alternatives]
    count = sum(given[each.keyword] not in (None, (), False) for each in alternatives)
    if not alternatives or count == 1 or (count == 0 and not question.needs_alternative):
        return
    labels = ["COLUMN" if each.positional else f"--{each.option or each.name}" for each in alternatives]
    raise click.UsageError(f"give exactly one of {', '.join(labels)}")


def _argument(parameter: Parameter, value: Any) -> Any:
    if parameter.kind == "sql":
        return [file.read() for file in value]
    if parameter.kind == "column" and parameter.repeatable:
        return read_names(value)
    return value


def read_names(names: Sequence[str]) -> list[str]:
    """The names of the command line, with `-` replaced by the lines of standard input."""
    lines: list[str] = []
    for name in names:
        lines += [line.strip() for line in sys.stdin if line.strip()] if name == "-" else [name]
    return lines


def _print_counts(answer: CoverageAnswer, key: str) -> None:
    print_line(answer.verdict)
    if answer.by[key]:
        print_line(f"{'gaps':>6}  {key}")
    for name, count in answer.by[key].items():
        print_line(f"{count:>6}  {name}")
