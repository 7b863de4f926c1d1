"""M tokens → syntax tree.

Operators are not ranked, because the lineage of an expression does not depend on their order. The tree is as deep as
brackets, functions and `let` are nested, and that is limited.
"""

from __future__ import annotations

from collections.abc import Sequence

from colline.semantic_models.power_query.m_nodes import (
    MCall,
    MConstant,
    MField,
    MFunction,
    MIf,
    MItem,
    MLet,
    MList,
    MName,
    MNode,
    MOperation,
    MProjection,
    MRecord,
)
from colline.semantic_models.power_query.m_tokens import MError, MToken, MTokenKind, m_tokens

MAX_NESTED = 100
_OPERATORS = frozenset(("+", "-", "*", "/", "&", "=", "<>", "<", ">", "<=", ">=", "??", ".."))
_WORD_OPERATORS = frozenset(("and", "or", "meta", "otherwise", "catch"))
_TYPE_WORDS = frozenset(("nullable", "table", "function", "optional"))
_OPEN = {"(": ")", "[": "]", "{": "}"}


def parse_m(text: str) -> MNode:
    """The syntax tree of an expression."""
    parser = _Parser(text, m_tokens(text))
    node = parser.expression()
    parser.expect_end()
    return node


class _Parser:
    """A recursive parser whose depth is limited by `MAX_NESTED`."""

    def __init__(self, text: str, tokens: Sequence[MToken]) -> None:
        self._text = text
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    # tokens

    def _next(self, ahead: int = 0) -> MToken | None:
        return self._tokens[self._at + ahead] if self._at + ahead < len(self._tokens) else None

    def _is(self, *texts: str, ahead: int = 0) -> bool:
        token = self._next(ahead)
        return token is not None and token.kind in (MTokenKind.SYMBOL, MTokenKind.KEYWORD) and token.text in texts

    def _line(self) -> int:
        token = self._next() or (self._tokens[-1] if self._tokens else None)
        return token.line if token is not None else 1

    def _error(self, expected: str) -> MError:
        token = self._next()
        found = f"`{token.text[:40]}`" if token is not None else "the end"
        return MError(f"expected {expected} and found {found}", self._line())

    def _take(self, text: str) -> None:
        if not self._is(text):
            raise self._error(f"`{text}`")
        self._at += 1

    def expect_end(self) -> None:
        """Raise an error if tokens are left."""
        if self._next() is not None:
            raise self._error("the end of the expression")

    # expressions

    def expression(self) -> MNode:
        """An expression with its operators."""
        self._depth += 1
        if self._depth > MAX_NESTED:
            raise self._error(f"at most {MAX_NESTED} nested expressions")
        try:
            return self._expression()
        finally:
            self._depth -= 1

    def _expression(self) -> MNode:
        if self._is("let"):
            return self._let()
        if self._is("if"):
            return self._if()
        if self._is("each"):
            self._at += 1
            return MFunction(("_",), self.expression())
        if self._is("(") and self._opens_function():
            return self._function()
        return self._operation()

    def _operation(self) -> MNode:
        operands, operators = [self._operand()], []
        while (token := self._next()) is not None and token.text in _OPERATORS | _WORD_OPERATORS | {"as", "is"}:
            if token.kind not in (MTokenKind.SYMBOL, MTokenKind.KEYWORD):
                break
            self._at += 1
            if token.text in {"as", "is"}:
                self._skip_type()
                continue
            operators.append(token.text)
            begins_expression = self._is("let", "if", "each") or (self._is("(") and self._opens_function())
            operands.append(self.expression() if begins_expression else self._operand())
        return operands[0] if len(operands) == 1 else MOperation(tuple(operators), tuple(operands))

    def _operand(self) -> MNode:
        while self._is("-", "+", "not", "try", "error", "@"):
            self._at += 1
        if self._is("type"):
            self._at += 1
            self._skip_type()
            return MConstant()
        if self._is("let", "if", "each"):
            return self.expression()
        return self._with_selections(self._primary())

    def _primary(self) -> MNode:
        token = self._next()
        if token is None:
            raise self._error("an operand")
        if token.kind in (MTokenKind.STRING, MTokenKind.NUMBER) or self._is("true", "false", "null", "..."):
            self._at += 1
            return MConstant(token.text if token.kind is MTokenKind.STRING else None)
        if token.kind in (MTokenKind.NAME, MTokenKind.QUOTED):
            self._at += 1
            return MName(token.text)
        if self._is("("):
            self._at += 1
            node = self.expression()
            self._take(")")
            return node
        if self._is("{"):
            return MList(tuple(self._items("{", "}")))
        if self._is("["):
            return self._record_or_field()
        raise self._error("an operand")

    def _with_selections(self, node: MNode) -> MNode:
        """`f(x){[Name = "a"]}[Data]`: calls, items and fields after a value, from left to right."""
        while True:
            if self._is("("):
                line = self._line()
                node = MCall(node, tuple(self._items("(", ")")), line)
            elif self._is("{"):
                self._at += 1
                node = MItem(node, self.expression())
                self._take("}")
            elif self._is("[") and self._is("[", ahead=1):
                node = self._projection(node)
            elif self._is("["):
                node = MField(node, self._field_name())
            elif self._is("?"):
                self._at += 1
            else:
                return node

    def _items(self, start: str, end: str) -> list[MNode]:
        self._take(start)
        items: list[MNode] = []
        while not self._is(end):
            items.append(self.expression())
            if self._is(","):
                self._at += 1
            elif not self._is(end):
                raise self._error(f"`,` or `{end}`")
        self._take(end)
        return items

    # brackets: a record, a field, or columns of a table

    def _record_or_field(self) -> MNode:
        """`[a = 1]` is a record, `[Order Date]` a field of `_`."""
        if self._is("]", ahead=1):
            self._at += 2
            return MRecord(())
        _, end = self._generalized_name(self._at + 1)
        token = self._tokens[end] if end < len(self._tokens) else None
        if token is None or token.text != "=" or token.kind is not MTokenKind.SYMBOL:
            return MField(None, self._field_name())
        self._at += 1
        fields: list[tuple[str, MNode]] = []
        while not self._is("]"):
            name, self._at = self._generalized_name(self._at)
            self._take("=")
            fields.append((name, self.expression()))
            if not self._is("]"):
                self._take(",")
        self._at += 1
        return MRecord(tuple(fields))

    def _field_name(self) -> str:
        self._take("[")
        name, self._at = self._generalized_name(self._at)
        self._take("]")
        return name

    def _projection(self, node: MNode) -> MNode:
        self._take("[")
        names = []
        while self._is("["):
            names.append(self._field_name())
            if self._is(","):
                self._at += 1
        self._take("]")
        return MProjection(node, tuple(names))

    def _generalized_name(self, at: int) -> tuple[str, int]:
        """A name with blanks, up to `]`, `=` or `,`, and the place after it: `Order Date`, `#"a = b"`."""
        if at < len(self._tokens) and self._tokens[at].kind is MTokenKind.QUOTED:
            return self._tokens[at].text, at + 1
        end = at
        while end < len(self._tokens) and self._tokens[end].text not in {"]", "=", ",", "["}:
            end += 1
        if end == at or end == len(self._tokens):
            self._at = min(at, len(self._tokens))
            raise self._error("the name of a field")
        return self._text[self._tokens[at].start : self._tokens[end - 1].end], end

    # let, if, functions, types

    def _let(self) -> MNode:
        self._take("let")
        bindings: list[tuple[str, MNode]] = []
        while not self._is("in"):
            token = self._next()
            if token is None or token.kind not in (MTokenKind.NAME, MTokenKind.QUOTED):
                raise self._error("the name of a step")
            name, self._at = self._generalized_name(self._at)
            self._take("=")
            bindings.append((name, self.expression()))
            if self._is(","):
                self._at += 1
            elif not self._is("in"):
                raise self._error("`,` or `in` after a step")
        self._take("in")
        return MLet(tuple(bindings), self.expression())

    def _if(self) -> MNode:
        conditions: list[MNode] = []
        results: list[MNode] = []
        while self._is("if"):
            self._at += 1
            conditions.append(self.expression())
            self._take("then")
            results.append(self.expression())
            self._take("else")
        results.append(self.expression())
        return MIf(tuple(conditions), tuple(results))

    def _opens_function(self) -> bool:
        """Whether `(` begins the parameters of a function: its closing bracket is followed by `=>` or `as … =>`."""
        depth, at = 0, self._at
        while at < len(self._tokens):
            token = self._tokens[at]
            if token.kind is MTokenKind.SYMBOL:
                depth += {"(": 1, ")": -1}.get(token.text, 0)
                if (depth == 1 and token.text in {"{", "["}) or token.text == "=>":
                    return False
            if depth == 0:
                following = self._tokens[at + 1 : at + 2]
                return bool(following) and following[0].text in {"=>", "as"} and self._returns_function(at + 1)
            at += 1
        return False

    def _returns_function(self, at: int) -> bool:
        """Whether `=>` comes next, or after the type of the result."""
        for token in self._tokens[at : at + 6]:
            if token.text == "=>":
                return True
            if token.kind is MTokenKind.SYMBOL:
                return False
        return False

    def _function(self) -> MNode:
        self._take("(")
        names: list[str] = []
        while not self._is(")"):
            token = self._next()
            if token is None:
                raise self._error("the name of a parameter")
            self._at += 1
            if token.text == "optional":
                continue
            names.append(token.text)
            if self._is("as"):
                self._at += 1
                self._skip_type()
            if self._is(","):
                self._at += 1
        self._take(")")
        if self._is("as"):
            self._at += 1
            self._skip_type()
        self._take("=>")
        return MFunction(tuple(names), self.expression())

    def _skip_type(self) -> None:
        """`number`, `nullable text`, `table [A = number]`, `{text}`: types have no lineage."""
        while True:
            token = self._next()
            if token is None:
                return
            if token.kind is MTokenKind.SYMBOL and token.text in _OPEN:
                self._skip_brackets()
                return
            if token.kind not in (MTokenKind.NAME, MTokenKind.KEYWORD):
                return
            self._at += 1
            following = self._next()
            opens = following is not None and following.kind is MTokenKind.SYMBOL and following.text in _OPEN
            if token.text not in _TYPE_WORDS and token.text != "type":
                return
            if token.text in {"table", "function"} and not opens:
                return

    def _skip_brackets(self) -> None:
        depth = 0
        while (token := self._next()) is not None:
            if token.kind is MTokenKind.SYMBOL:
                depth += 1 if token.text in _OPEN else -1 if token.text in _OPEN.values() else 0
            self._at += 1
            if depth == 0:
                return
        raise self._error("a closing bracket")
