"""Every number that was fitted or chosen stands in one record, with where it comes from."""

import ast
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import get_type_hints

import pytest

from carrel.libraries.discovery import tuned

FOLDER = Path(tuned.__file__).parent

# Numbers that change what is shown or kept in memory, not what is found.
STRUCTURAL = {
    "BREAK": "a mark between phrases",
    "PAPERS_PER_CHUNK": "portions of work for another process",
    "PAPERS_PER_CHUNK_WITH_VOCABULARY": "portions of work for another process",
    "MOST_PLAIN_TEXTS": "a cache",
    "MOST_REMEMBERED": "a cache",
    "SENTENCES_REMEMBERED": "a cache",
    "NOTHING": "stands for no number in tables",
    "NO_YEAR": "stands for an unknown year in tables",
    "SHARED": "a flag of a key in tables",
    "DEFINED": "a flag of a key in tables",
    "_SPELLING_BUCKETS": "a filter before an exact comparison; changes time and memory alone",
    "_STEPS": "ends a chain of renamings that would run in a circle",
    "_LONGEST_SYMBOL": "letters of a symbol",
    "LONGEST_SHORT_FORM": "letters of a short form, as Schwartz and Hearst define it",
    "BRIDGES_SHOWN": "shown",
    "PAPERS_SHOWN": "shown",
    "METHODS_SHOWN": "shown",
    "SHOWN": "shown",
    "SHARED_SHOWN": "shown",
    "CITED": "shown",
    "BRIDGES_OF_AN_ARM": "shown",
    "NEAR_NAMES": "shown",
    "SUMMARY_LEAST_WORDS": "the specification's",
    "SUMMARY_MOST_WORDS": "the specification's",
    "_LONGEST_NOTE_WORDS": "shown",
    "LONGEST_LABEL_WORDS": "shown",
    "_LEAST_TOLD": "shown",
    "_SIGNS": "which way a verb goes",
    "_SIGN_ASKED_FOR": "which way an answer goes",
}
PLAIN = {0.0, 0.5, 1.0, 2.0}


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _files() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(FOLDER.rglob("*.py")):
        name = str(path.relative_to(FOLDER))
        yield name, ast.parse(path.read_text(encoding="utf-8"))


def _named_numbers(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Names in capitals that are given numbers at the level of a module, calls left aside."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                continue
        parts = list(ast.walk(value))
        is_computed = any(isinstance(part, ast.Call) for part in parts)
        if name.isupper() and not is_computed and any(map(_is_number, parts)):
            yield name, node


def test_each_number_says_what_it_does_on_what_it_was_chosen_and_when() -> None:
    for group, numbers in tuned.TABLE.items():
        for name, entry in numbers.items():
            assert entry.keys() == {"value", "does", "on", "since"}, f"{group}.{name}"
            assert entry["does"].endswith(".") and entry["on"], f"{group}.{name}"
            assert isinstance(entry["since"], date), f"{group}.{name}"


def test_the_record_has_the_types_it_is_read_into() -> None:
    for group, numbers in tuned.TABLE.items():
        record = getattr(tuned, group.upper())
        hints = get_type_hints(type(record))
        assert asdict(record) == {name: entry["value"] for name, entry in numbers.items()}
        for name, value in asdict(record).items():
            if not isinstance(value, dict):
                assert type(value) is hints[name], f"{group}.{name}"


def test_a_group_with_a_number_too_many_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tuned.TABLE["kinds"], "another", {"value": 1})
    with pytest.raises(TypeError, match="another"):
        tuned._read("kinds", tuned.KindNumbers)


def test_no_module_has_a_tuned_number_of_its_own() -> None:
    found = {
        f"{file}: {name}"
        for file, tree in _files()
        for name, _ in _named_numbers(tree)
        if name not in STRUCTURAL
    }
    assert found == set(), "to tuned.toml, or with a reason among those of structure"


def test_what_is_listed_as_structure_is_there() -> None:
    there = {name for _, tree in _files() for name, _ in _named_numbers(tree)}
    assert STRUCTURAL.keys() == there


def test_no_function_has_a_tuned_number_within() -> None:
    found = set()
    for file, tree in _files():
        named = {id(part) for _, node in _named_numbers(tree) for part in ast.walk(node)}
        for node in ast.walk(tree):
            is_own = _is_number(node) and id(node) not in named
            if is_own and isinstance(node, ast.Constant) and isinstance(node.value, float):
                found.add((file, node.value))
    assert {one for one in found if one[1] not in PLAIN} == set()
