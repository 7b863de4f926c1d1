"""Splits SQL text into statements: scripts with and without semicolons, batches, and the bodies of procedures.

sqlglot parses a statement, but not the procedural languages around it. A statement begins at one of `STARTERS`,
at a place where a statement can begin; loops, conditions and declarations between statements are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sqlglot import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType

MAX_SQL_CHARS = 2_000_000
MAX_NESTED_BRACKETS = 200
MAX_NESTED_BODIES = 3  # a procedure in the body of a procedure

STARTERS = frozenset(("SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "REPLACE", "TRUNCATE"))
# statements that are read only where a script or a semicolon begins them; DuckDB and pipes begin with FROM
_OTHER_STATEMENTS = frozenset(("COMMENT", "ALTER", "FROM", "TABLE", "VALUES", "("))
# words after which a statement can begin inside a procedure
_OPENERS = frozenset(("BEGIN", "THEN", "ELSE", "LOOP", "DO", "AS", "IS", "DECLARE", "REPEAT", "TRY", "CATCH", "ATOMIC"))
# words before INSERT, UPDATE and DELETE with which they are part of another statement
_CONTINUED_BY = frozenset(("FOR", "KEY", "ON", "AFTER", "BEFORE", "OR", "OF", ",", "INSTEAD", "NO", "."))
_SET_OPERATORS = frozenset(("UNION", "ALL", "DISTINCT", "EXCEPT", "INTERSECT", "MINUS", "AS", "FOR"))
# words that end the statement before them where semicolons are optional
_CONTROL_WORDS = frozenset((
    "DECLARE", "SET", "EXEC", "EXECUTE", "IF", "WHILE", "BEGIN", "END", "PRINT", "RETURN", "COMMIT", "ROLLBACK",
    "RAISERROR", "THROW", "DROP", "GRANT", "ALTER",
))  # fmt: skip
_VERBS = frozenset(("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"))
_CREATES = frozenset(("CREATE", "ALTER"))
_TRANSACTIONS = frozenset(("TRANSACTION", "TRAN", "WORK"))
_LOOPS = frozenset(("IF", "LOOP", "WHILE", "FOR", "REPEAT"))  # `end if`
_ROUTINES = frozenset(("PROCEDURE", "PROC", "FUNCTION", "TRIGGER"))
# words that complete a statement, by its first word
_QUERY_WORDS = {"": {"SELECT", "VALUES", "EXEC", "EXECUTE"}, "WITH": {"SELECT", "VALUES", "UPDATE", "DELETE", "MERGE"}}
_DIALECTS_WITHOUT_SEMICOLONS = frozenset(("tsql", "fabric"))
_EXECUTES_TEXT = frozenset(("postgres", "redshift", "materialize", "risingwave"))  # EXECUTE in a procedure
_BATCH_END_WORD = "COLLINE_BATCH_END"
_BODY_TYPES = (TokenType.HEREDOC_STRING, TokenType.RAW_STRING)
_DEPTH = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}
_BATCH_END = re.compile(r"^[ \t]*(?:GO(?:[ \t]+\d+)?|/)[ \t]*(?:--[^\n]*)?$", re.IGNORECASE | re.MULTILINE)
_DELIMITER = re.compile(r"^[ \t]*DELIMITER[ \t]+(\S+)[ \t]*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class ScriptStatement:
    """The tokens of one statement, its first line, and the procedure that contains it."""

    tokens: tuple[Any, ...]
    sql: str
    line: int
    procedure: str = ""
    is_dynamic: bool = False  # runs text that is not known


class ScriptError(Exception):
    """SQL text that cannot be split into statements, with the line."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def script_statements(sql: str, dialect: str) -> list[ScriptStatement]:
    """The statements of a script that read or write data, in order."""
    if len(sql) > MAX_SQL_CHARS:
        raise ScriptError(f"{len(sql):,} characters of SQL; at most {MAX_SQL_CHARS:,} are read")
    return list(_statements(_with_semicolons(sql), dialect, "", 0, depth=0))


def _statements(sql: str, dialect: str, procedure: str, lines_before: int, *, depth: int) -> Iterator[ScriptStatement]:
    blocks = _Blocks()
    for chunk in _Splitter(_tokens(sql, dialect), dialect).chunks():
        words = [_word(token) for token in chunk[:5]]
        line = lines_before + chunk[0].line
        if words[0] == _BATCH_END_WORD:
            procedure = ""
        elif _is_routine_header(words):
            procedure, blocks = _routine_name(chunk), _Blocks()
            bodies = [token for token in chunk if token.token_type in _BODY_TYPES]
            for body in bodies if depth < MAX_NESTED_BODIES else ():
                first = body.line - 1 - body.text.count("\n")  # the line of a token is that of its end
                yield from _statements(body.text, dialect, procedure, lines_before + first, depth=depth + 1)
            procedure = "" if bodies else procedure
        elif _is_dynamic(words, dialect, procedure):
            yield ScriptStatement(tuple(chunk), sql, line, procedure, is_dynamic=True)
        elif words[0] in STARTERS or words[0] in _OTHER_STATEMENTS:
            yield ScriptStatement(tuple(chunk), sql, line, procedure)
        if blocks.end_with(chunk) and not depth and dialect not in _DIALECTS_WITHOUT_SEMICOLONS:
            procedure = ""


def _with_semicolons(sql: str) -> str:
    """The text with a semicolon and a mark for `GO` and `/` lines, and for MySQL's own delimiters."""
    mark = f"; {_BATCH_END_WORD};"
    for delimiter in {found for found in _DELIMITER.findall(sql) if found != ";"}:
        sql = _DELIMITER.sub("", sql).replace(delimiter, mark)
    return _BATCH_END.sub(mark, _DELIMITER.sub("", sql))


def _tokens(sql: str, dialect: str) -> list[Any]:
    try:
        tokens = list(_tokenizer_class(dialect)(dialect=dialect or None).tokenize(sql))
    except SqlglotError as error:
        raise ScriptError(str(error).split("\n", maxsplit=1)[0], sql.count("\n") + 1) from error
    depth = 0
    for token in tokens:
        depth += _DEPTH.get(token.token_type, 0)
        if depth > MAX_NESTED_BRACKETS:
            raise ScriptError(f"more than {MAX_NESTED_BRACKETS} nested brackets", token.line)
    return tokens


@lru_cache(maxsize=64)
def _tokenizer_class(dialect: str) -> Any:
    """The tokenizer of a dialect that splits commands into words, too: sqlglot reads them as one string."""
    return type("ScriptTokenizer", (Dialect.get_or_raise(dialect or None).tokenizer_class,), {"COMMANDS": set()})


def _word(token: Any) -> str:
    """The word in upper case; empty for a quoted name or a string."""
    is_quoted = token.token_type in (TokenType.IDENTIFIER, TokenType.STRING, *_BODY_TYPES)
    return "" if is_quoted else str(token.text).upper()


@dataclass
class _Chunk:
    """The tokens since the last statement began, and what decides whether the next word begins another one."""

    tokens: list[Any] = field(default_factory=list)
    first: str = ""
    depth: int = 0
    open_cases: int = 0
    verb: str = ""  # the first word, or what follows the common table expressions
    has_query: bool = False
    has_set: bool = False
    is_routine_header: bool = False

    def add(self, token: Any, word: str) -> None:
        self.tokens.append(token)
        self.first = self.first if len(self.tokens) > 1 else word
        self.depth = max(0, self.depth + _DEPTH.get(token.token_type, 0))
        if self.depth:
            return
        self.open_cases = max(0, self.open_cases + {"CASE": 1, "END": -1}.get(word, 0))
        if self.verb in {"", "WITH"} and (not self.verb or word in _VERBS):
            self.verb = word
        self.has_query = self.has_query or word in _QUERY_WORDS.get(self.first, _QUERY_WORDS[""])
        self.has_set = self.has_set or word == "SET"
        if len(self.tokens) <= 5:
            self.is_routine_header = self.first in _CREATES and (self.is_routine_header or word in _ROUTINES)


@dataclass
class _Blocks:
    """The blocks of a procedure that are open: `begin … end` and `case … end`."""

    open_blocks: list[str] = field(default_factory=list)

    def end_with(self, chunk: Sequence[Any]) -> bool:
        """Whether the outermost block ends in these tokens."""
        words = ["", *map(_word, chunk), ""]
        is_ended = False
        for before, word, after in zip(words, words[1:], words[2:], strict=False):
            opens_case = word == "CASE" and before != "END"
            if opens_case or (word == "BEGIN" and after not in _TRANSACTIONS):
                self.open_blocks.append(word)
            elif word == "END" and after not in _LOOPS and self.open_blocks:
                is_ended = self.open_blocks.pop() == "BEGIN" and not self.open_blocks
        return is_ended


class _Splitter:
    """Splits the tokens of a script where a statement begins."""

    def __init__(self, tokens: Sequence[Any], dialect: str) -> None:
        self._tokens = tokens
        self._words = [_word(token) for token in tokens]
        self._splits_anywhere = dialect in _DIALECTS_WITHOUT_SEMICOLONS

    def chunks(self) -> Iterator[list[Any]]:
        """The tokens of each statement, and the tokens between statements."""
        chunk = _Chunk()
        for place, (token, word) in enumerate(zip(self._tokens, self._words, strict=True)):
            is_end = token.token_type is TokenType.SEMICOLON and not chunk.depth
            if chunk.tokens and (is_end or (not chunk.depth and self._starts_statement(place, chunk))):
                yield chunk.tokens
                chunk = _Chunk()
            if not is_end:
                chunk.add(token, word)
        if chunk.tokens:
            yield chunk.tokens

    def _starts_statement(self, place: int, chunk: _Chunk) -> bool:
        """Whether the token at a place begins a statement, or ends the one before it."""
        word, before = self._words[place], self._words[place - 1]
        if self._splits_anywhere and word in _CONTROL_WORDS and before != "OR" and self._is_control(word, chunk):
            return True
        if word not in STARTERS or (before == "THEN" and chunk.verb == "MERGE"):
            return False
        if before == "DO" and chunk.verb == "INSERT":  # on conflict do update
            return False
        if before in _CONTINUED_BY and word not in {"SELECT", "WITH"}:
            return False
        if before in _OPENERS and (before != "AS" or chunk.is_routine_header):
            return word != "WITH" or self._is_cte(place)
        return self._splits_anywhere and self._begins_without_semicolon(place, chunk)

    def _begins_without_semicolon(self, place: int, chunk: _Chunk) -> bool:
        word, before = self._words[place], self._words[place - 1]
        if before in {"AS", "IS"} and chunk.first in _CREATES:
            return False
        if word == "WITH":
            return self._is_cte(place) and chunk.first not in {"INSERT", "MERGE"}
        if chunk.first == "WITH" and not chunk.has_query:
            return False
        if word == "SELECT":
            return before not in _SET_OPERATORS and (chunk.has_query or chunk.first not in STARTERS)
        return word != "REPLACE"

    def _is_control(self, word: str, chunk: _Chunk) -> bool:
        """Whether a word is the beginning of a control statement and not a part of the statement before it."""
        if word == "SET":
            return chunk.verb != "MERGE" and (chunk.verb != "UPDATE" or chunk.has_set)
        if word in {"EXEC", "EXECUTE"}:
            return chunk.first != "INSERT" or chunk.has_query
        return word == "BEGIN" or not (chunk.is_routine_header or (word == "END" and chunk.open_cases))

    def _is_cte(self, place: int) -> bool:
        """Whether WITH begins a common table expression, and not a table hint or an option."""
        following = self._words[place + 1 : place + 7]
        names = following[1:] if following[:1] == ["RECURSIVE"] else following
        body = [word for word in names[2:] if word not in {"NOT", "MATERIALIZED"}]
        return names[1:2] == ["("] or (names[1:2] == ["AS"] and body[:1] == ["("])


def _is_routine_header(words: Sequence[str]) -> bool:
    """`create or alter procedure …`, `create function …`."""
    return words[0] in _CREATES and not _ROUTINES.isdisjoint(words[1:5])


def _routine_name(chunk: Sequence[Any]) -> str:
    """`create or replace procedure etl.load_orders(…)` → etl.load_orders."""
    start = next(at for at, token in enumerate(chunk) if _word(token) in _ROUTINES) + 1
    if [_word(token) for token in chunk[start : start + 3]] == ["IF", "NOT", "EXISTS"]:
        start += 3
    parts = [str(token.text) for token in chunk[start : start + 1]]
    while chunk[start + 1 : start + 2] and chunk[start + 1].token_type is TokenType.DOT and len(chunk) > start + 2:
        start += 2
        parts.append(str(chunk[start].text))
    return ".".join(parts)


def _is_dynamic(words: Sequence[str], dialect: str, procedure: str) -> bool:
    """`exec('…')`, `exec sp_executesql @sql`, `execute immediate …`; not `exec dbo.load_orders`."""
    if words[0] not in {"EXEC", "EXECUTE"}:
        return False
    runs_text = words[1:2] in [["("], ["IMMEDIATE"]] or "SP_EXECUTESQL" in words
    return runs_text or (bool(procedure) and dialect in _EXECUTES_TEXT)


def without_merge_output(tokens: Sequence[Any]) -> list[Any]:
    """A MERGE of T-SQL without `output $action, inserted.id …` at its end, which sqlglot does not parse."""
    words = [_word(token) for token in tokens]
    if "MERGE" not in words[:1] and "WITH" not in words[:1]:
        return list(tokens)
    depth = 0
    for place, token in enumerate(tokens):
        depth += _DEPTH.get(token.token_type, 0)
        if not depth and words[place] == "OUTPUT" and "WHEN" in words[:place]:
            return list(tokens[:place])
    return list(tokens)
