"""Changes of logic in Python source: comparisons, conditions, returns and raises."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change: the text from `start` to `end` (offsets in UTF-8) becomes `replacement`."""

    kind: str
    function: str
    line: int
    start: int
    end: int
    original: str
    replacement: str

    def apply(self, source: str) -> str:
        encoded = source.encode()
        changed = encoded[: self.start] + self.replacement.encode() + encoded[self.end :]
        return changed.decode()


class _Collector(ast.NodeVisitor):
    """Walks a module and collects every change that could be made in its functions."""

    def __init__(self, source: str) -> None:
        self.encoded = source.encode()
        self.starts = [0]
        for line in self.encoded.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.function: list[str] = []
        self.mutations: list[Mutation] = []

    def _place(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (
            self.starts[node.lineno - 1] + node.col_offset,
            self.starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self._place(node)
        return self.encoded[start:end].decode()

    def _add(self, kind: str, node: ast.expr | ast.stmt, replacement: str) -> None:
        if not self.function:
            return
        start, end = self._place(node)
        self.mutations.append(
            Mutation(
                kind,
                ".".join(self.function),
                node.lineno,
                start,
                end,
                self._text(node),
                replacement,
            )
        )

    def _visit_scope(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self.function.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self.function.pop()

    visit_FunctionDef = _visit_scope
    visit_AsyncFunctionDef = _visit_scope
    visit_ClassDef = _visit_scope

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1:
            swapped = _COMPARISONS[type(node.ops[0])]
            self._add(
                "comparison",
                node,
                f"({self._text(node.left)}) {swapped} ({self._text(node.comparators[0])})",
            )
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        joint = " or " if isinstance(node.op, ast.And) else " and "
        self._add("condition", node, f"({joint.join(f'({self._text(v)})' for v in node.values)})")
        self.generic_visit(node)

    def _visit_test(self, node: ast.If | ast.While | ast.IfExp) -> None:
        if not self._is_type_checking(node.test):
            self._add("condition", node.test, f"(not ({self._text(node.test)}))")
        self.generic_visit(node)

    visit_If = _visit_test
    visit_While = _visit_test
    visit_IfExp = _visit_test

    @staticmethod
    def _is_type_checking(test: ast.expr) -> bool:
        return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not (
            isinstance(node.value, ast.Constant) and node.value.value is None
        ):
            self._add("return", node, "return None")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._add("raise", node, "pass")
        self.generic_visit(node)


def mutations_of(source: str) -> Iterator[Mutation]:
    """Every change that can be made in the functions of a module, in the order of the source."""
    collector = _Collector(source)
    collector.visit(ast.parse(source))
    yield from sorted(collector.mutations, key=lambda each: (each.start, each.kind))
