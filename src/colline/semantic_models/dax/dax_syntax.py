"""DAX tokens → syntax tree.

Operators are not ranked, because the lineage of `a + b * c` does not depend on their order: an operation is a list of
operands. So the tree is only as deep as its brackets, and that is limited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from colline.semantic_models.dax.dax_tokens import DaxError, DaxToken, Token, dax_tokens

MAX_NESTED_BRACKETS = 100


@dataclass(frozen=True, slots=True)
class Constant:
    """A number or a text."""

    text: str


@dataclass(frozen=True, slots=True)
class NameReference:
    """A name that is a variable, a table, or a keyword of a function."""

    name: str
    line: int
    is_quoted: bool = False


@dataclass(frozen=True, slots=True)
class FieldReference:
    """`Sales[Amount]`, or `[Total]` without a table."""

    table: str
    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function with its arguments; the name is in upper case."""

    function: str
    arguments: tuple[DaxNode, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Operation:
    """Operands that are combined by operators."""

    operands: tuple[DaxNode, ...]


@dataclass(frozen=True, slots=True)
class TableRows:
    """`{ 1, 2 }` or `{ (1, "a"), (2, "b") }`; `(1, "a")` is one row."""

    rows: tuple[tuple[DaxNode, ...], ...]


@dataclass(frozen=True, slots=True)
class Block:
    """`VAR a = … RETURN …`."""

    variables: tuple[tuple[str, DaxNode], ...]
    result: DaxNode


DaxNode = Constant | NameReference | FieldReference | Call | Operation | TableRows | Block
_EMPTY = Constant("")


def parse_dax(text: str) -> DaxNode:
    """The syntax tree of an expression; `=` in front of it is ignored, as in a formula."""
    parser = _Parser(dax_tokens(text))
    node = parser.expression()
    parser.expect_end()
    return node


class _Parser:
    """A recursive parser whose depth is that of the brackets."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        while self._is(DaxToken.OPERATOR, "="):
            self._at += 1

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > MAX_NESTED_BRACKETS:
            raise self._error(f"at most {MAX_NESTED_BRACKETS} nested brackets")

    def _next(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _is(self, kind: DaxToken, *texts: str) -> bool:
        token = self._next()
        return token is not None and token.kind is kind and (not texts or token.text.upper() in texts)

    def _error(self, expected: str) -> DaxError:
        token = self._next()
        line = token.line if token is not None else self._tokens[-1].line if self._tokens else 1
        found = f"`{token.text[:40]}`" if token is not None else "the end"
        return DaxError(f"expected {expected} and found {found}", line)

    def expect_end(self) -> None:
        """Raise an error if tokens are left."""
        if self._next() is not None:
            raise self._error("the end of the expression")

    def expression(self) -> DaxNode:
        """`VAR … RETURN …`, or operands with operators between them."""
        variables: list[tuple[str, DaxNode]] = []
        while self._is(DaxToken.NAME, "VAR"):
            self._at += 1
            variables.append(self._variable())
        if variables:
            if not self._is(DaxToken.NAME, "RETURN"):
                raise self._error("RETURN")
            self._at += 1
            return Block(tuple(variables), self._operation())
        return self._operation()

    def _variable(self) -> tuple[str, DaxNode]:
        token = self._next()
        if token is None or token.kind is not DaxToken.NAME:
            raise self._error("the name of a variable")
        self._at += 1
        if not self._is(DaxToken.OPERATOR, "="):
            raise self._error(f"`=` after VAR {token.text}")
        self._at += 1
        self._enter()
        value = self.expression()
        self._depth -= 1
        return token.text.lower(), value

    def _operation(self) -> DaxNode:
        operands = [self._operand()]
        while self._is(DaxToken.OPERATOR) or self._is(DaxToken.NAME, "IN", "NOT"):
            self._at += 1
            operands.append(self._operand())
        return operands[0] if len(operands) == 1 else Operation(tuple(operands))

    def _operand(self) -> DaxNode:
        while self._is(DaxToken.OPERATOR, "-", "+", "!") or self._is_not_operator():
            self._at += 1
        token = self._next()
        if token is None:
            raise self._error("an operand")
        if token.kind is DaxToken.NAME and self._opens_call():
            return self._call(token)
        self._at += 1
        if token.kind in (DaxToken.NUMBER, DaxToken.STRING):
            return Constant(token.text)
        if token.kind is DaxToken.BRACKETS:
            return self._with_variation(FieldReference("", token.text, token.line))
        if token.kind in (DaxToken.TABLE, DaxToken.NAME):
            return self._field_or_name(token)
        if token.kind is DaxToken.OPEN:
            return self._expression_in_brackets(token)
        self._at -= 1
        raise self._error("an operand")

    def _is_not_operator(self) -> bool:
        return self._is(DaxToken.NAME, "NOT") and not self._opens_call()

    def _opens_call(self) -> bool:
        following = self._tokens[self._at + 1 : self._at + 2]
        return bool(following) and following[0].kind is DaxToken.OPEN and following[0].text == "("

    def _field_or_name(self, token: Token) -> DaxNode:
        if self._is(DaxToken.BRACKETS):
            found = self._tokens[self._at]
            self._at += 1
            return self._with_variation(FieldReference(token.text, found.text, token.line))
        return NameReference(token.text, token.line, is_quoted=token.kind is DaxToken.TABLE)

    def _with_variation(self, field: FieldReference) -> FieldReference:
        """`'Date'[Date].[Month]` is read from the column `Date`."""
        while self._is(DaxToken.DOT):
            self._at += 1
            if not self._is(DaxToken.BRACKETS):
                raise self._error("a name in brackets after the dot")
            self._at += 1
        return field

    def _call(self, token: Token) -> Call:
        self._at += 2
        return Call(token.text.upper(), tuple(self._items(")")), token.line)

    def _items(self, end: str) -> list[DaxNode]:
        """The expressions up to a closing bracket; an omitted argument is an empty constant."""
        self._enter()
        items: list[DaxNode] = []
        while not self._is(DaxToken.CLOSE):
            if self._is(DaxToken.COMMA):
                items.append(_EMPTY)
            else:
                items.append(self.expression())
            if self._is(DaxToken.COMMA):
                self._at += 1
            elif not self._is(DaxToken.CLOSE):
                raise self._error(f"`,` or `{end}`")
        if not self._is(DaxToken.CLOSE, end):
            raise self._error(f"`{end}`")
        self._at += 1
        self._depth -= 1
        return items

    def _expression_in_brackets(self, token: Token) -> DaxNode:
        items = self._items(")" if token.text == "(" else "}")
        if token.text == "{":
            return TableRows(tuple(item.rows[0] if _is_tuple(item) else (item,) for item in items))
        if not items:
            raise DaxError("expected an expression in the brackets", token.line)
        return items[0] if len(items) == 1 else TableRows((tuple(items),))


def _is_tuple(node: DaxNode) -> TypeGuard[TableRows]:
    """Whether a node is `(1, "a")`: one row of a table."""
    return isinstance(node, TableRows) and len(node.rows) == 1
