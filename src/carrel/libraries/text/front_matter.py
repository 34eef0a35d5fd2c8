"""YAML at the head of a Markdown text, with what can blow it up counted before anything is built:
aliases, merges, nesting.
"""

from __future__ import annotations

from typing import Any

import yaml

from carrel.libraries.text.budget import InputTooCostlyError, parsing, too_deep

# Longer numbers than this are text: no year or count has them, and reading them costs the square of
# their length.
_LONGEST_NUMBER = 40

_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class FrontMatterError(ValueError):
    """The block is not YAML that is read here; the message says why in one line, `line` where in
    the block, from 1.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class _Loader(_SafeLoader):  # type: ignore[misc]
    """The safe loader, for which overlong numbers are text."""

    def construct_short_int(self, node: yaml.ScalarNode) -> object:
        return node.value if len(node.value) > _LONGEST_NUMBER else self.construct_yaml_int(node)

    def construct_short_float(self, node: yaml.ScalarNode) -> object:
        return node.value if len(node.value) > _LONGEST_NUMBER else self.construct_yaml_float(node)


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_short_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_short_float)


def load_front_matter(block: str) -> Any:
    """The value of a YAML block. Raises FrontMatterError for what is not valid or would take too
    much to build.
    """
    try:
        with parsing("the front matter", len(block)):
            _count(block)
            # A safe loader builds plain values only.
            return yaml.load(block, Loader=_Loader)  # noqa: S506
    except FrontMatterError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise FrontMatterError(
            error.problem or "it cannot be read", None if mark is None else mark.line + 1
        ) from None
    except (
        yaml.YAMLError,
        ValueError,
        RecursionError,
        OverflowError,
        TypeError,
        AttributeError,
    ) as error:
        raise FrontMatterError(" ".join(str(error).split())[:200]) from None
    except InputTooCostlyError as error:
        if error.exceeded == "cancelled":
            raise
        raise FrontMatterError(error.message) from None


def _count(block: str) -> None:
    """Walks through the events of a block; every use of an alias counts as much as what it stands
    for.
    """
    with parsing("the front matter", len(block)) as budget:
        sizes: dict[str, int] = {}
        open_nodes: list[tuple[str | None, int]] = []
        size = 0
        for event in yaml.parse(block, Loader=_SafeLoader):
            budget.step()
            match event:
                case yaml.CollectionStartEvent():
                    if len(open_nodes) >= budget.max_depth:
                        raise too_deep("the front matter")
                    open_nodes.append((event.anchor, size))
                    size = 1
                case yaml.CollectionEndEvent():
                    anchor, outer = open_nodes.pop()
                    if anchor is not None:
                        sizes[anchor] = size
                    size += outer
                case yaml.AliasEvent():
                    if event.anchor not in sizes:
                        raise FrontMatterError(
                            f"the alias *{event.anchor} stands inside what it names, or names "
                            f"nothing"
                        )
                    size += sizes[event.anchor]
                    budget.spend_output(sizes[event.anchor])
                case yaml.ScalarEvent():
                    if event.anchor is not None:
                        sizes[event.anchor] = 1 + len(event.value)
                    size += 1 + len(event.value)
                case _:
                    continue
