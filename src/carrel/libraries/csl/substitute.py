"""cs:substitute: what is tried, one after the other, where names are missing."""

import copy
from collections.abc import Callable

from carrel.libraries.text.xml import Element

from .conditions import compile_condition
from .context import Context
from .decoration import Render
from .scope import Scope
from .tokens import Tokens

Compile = Callable[[Element, Scope], Render | None]


def alternatives(parent: Element, names: Element, scope: Scope, compile_element: Compile) -> Render:
    """Tries the children in turn until one says something; a choice only decides which of its own
    are tried.
    """
    renders = []
    for child in parent:
        if child.tag == "choose":
            renders.append(_choice(child, names, scope, compile_element))
            continue
        if child.tag == "names" and not [
            inner for inner in child if inner.tag in {"name", "label", "et-al", "substitute"}
        ]:
            compiled = compile_element(_filled(child, names), scope)
        else:
            compiled = compile_element(child, scope)
        if compiled is not None:
            renders.append(compiled)

    def try_each(context: Context, out: Tokens) -> None:
        start = len(out)
        for render in renders:
            render(context, out)
            if len(out) > start or (context.suppress_names and context.names_text is not None):
                return

    return try_each


def _choice(choose: Element, names: Element, scope: Scope, compile_element: Compile) -> Render:
    branches = [
        (
            compile_condition(branch) if branch.tag != "else" else None,
            alternatives(branch, names, scope, compile_element),
        )
        for branch in choose
        if branch.tag in {"if", "else-if", "else"}
    ]

    def choice(context: Context, out: Tokens) -> None:
        for test, render in branches:
            if test is None or test(context):
                render(context, out)
                return

    return choice


def _filled(child: Element, parent: Element) -> Element:
    """A cs:names in cs:substitute that says only its variable takes name, et-al and label from its
    parent.
    """
    filled = copy.copy(child)
    filled.attrib = {**parent.attrib, "variable": child.get("variable", "")}
    for inner in parent:
        if inner.tag in {"name", "et-al", "label"}:
            filled.append(inner)
    return filled
