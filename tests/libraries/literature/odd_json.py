"""Odd values in place of the fields that a service promises, for fuzzing readers of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=True),
    st.text(max_size=40),
    st.sampled_from(["", "NA", "<i>x", "</b>", "&lt;p&gt;", "10.1/x", "2020-13-45", "Y", "2019"]),
)
odd_values = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


def paths_of(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The path of every field in decoded JSON, outer ones first."""
    items: list[tuple[str | int, Any]] = []
    if isinstance(value, Mapping):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    found = [path] if path else []
    for name, inner in items:
        found.extend(paths_of(inner, (*path, name)))
    return found


def replace_at(value: object, path: tuple[str | int, ...], new: object) -> Any:
    """A copy with another value at a path; a path that is gone changes nothing."""
    if not path:
        return new
    first, rest = path[0], path[1:]
    if isinstance(value, Mapping) and first in value:
        return {**value, first: replace_at(value[first], rest, new)}
    if isinstance(value, list) and isinstance(first, int) and first < len(value):
        return [*value[:first], replace_at(value[first], rest, new), *value[first + 1 :]]
    return value


def damaged(sample: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """The sample with up to four fields replaced by odd values."""
    changes = st.lists(
        st.tuples(st.sampled_from(paths_of(sample)), odd_values), min_size=1, max_size=4
    )

    def apply(chosen: list[tuple[tuple[str | int, ...], object]]) -> Any:
        result: Any = sample
        for path, new in chosen:
            result = replace_at(result, path, new)
        return result

    return changes.map(apply)
