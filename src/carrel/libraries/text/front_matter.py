"""The one reader of YAML front matter; aliases, merges and nesting are counted before it loads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml

from carrel.libraries.text.budget import MAX_DEPTH, InputTooCostlyError, parsing, too_deep

# Longer numbers than this are text: no year or count has them, and reading them costs the square of
# their length.
_LONGEST_NUMBER = 40

_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


_BLOCK = re.compile(
    r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class FrontMatterSplit:
    """A text and its front matter; `header + body` is the text. Without one, `block` is None."""

    block: str | None
    header: str
    body: str


class FrontMatterError(ValueError):
    """The block cannot be read as YAML; `line` is the line in the block, counted from 1."""

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


class NoNamedFieldsError(FrontMatterError):
    """The block is YAML, but a list or a single value."""


def split_front_matter(text: str) -> FrontMatterSplit:
    """Separate the front matter, between a first line `---` and a line `---` or `...`."""
    found = _BLOCK.match(text)
    if found is None:
        return FrontMatterSplit(None, "", text)
    return FrontMatterSplit(found[1], text[: found.end()], text[found.end() :])


def load_front_matter(block: str) -> dict[str, Any]:
    """The fields of a YAML block. Raises FrontMatterError when it is invalid or too costly."""
    fields = _load(block)
    if fields is None:
        return {}
    if not isinstance(fields, dict):
        raise NoNamedFieldsError("it is not a list of named fields", 1)
    return {str(name): value for name, value in fields.items()}


def _load(block: str) -> Any:
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
    """Walk through the events of a block; an alias counts as much as what it stands for."""
    with parsing("the front matter", len(block)) as budget:
        sizes: dict[str, int] = {}
        open_nodes: list[tuple[str | None, int]] = []
        size = 0
        for event in yaml.parse(block, Loader=_SafeLoader):
            budget.step()
            match event:
                case yaml.CollectionStartEvent():
                    if len(open_nodes) >= MAX_DEPTH:
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
