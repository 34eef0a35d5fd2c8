"""What a reader does with input that would take more output, depth or time than its size allows."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time

import pytest

import carrel.libraries.text.budget as budget_module
from carrel.core.errors import CostlyInputError
from carrel.core.parsing import parse_in_thread
from carrel.libraries.bibliography.bibtex.reader import read_bibtex
from carrel.libraries.bibliography.formats import (
    ExportFormat,
    read_bibliography,
    write_bibliography,
)
from carrel.libraries.bibliography.recognition import InputKind
from carrel.libraries.text.budget import (
    MAX_DEPTH,
    OUTPUT_ALLOWANCE,
    OUTPUT_PER_INPUT,
    Budget,
    InputTooCostlyError,
    check_nesting,
    current_budget,
    parsing,
)
from carrel.libraries.text.front_matter import FrontMatterError, load_front_matter
from carrel.rooms.references.citations import CitationStyles

pytestmark = pytest.mark.promise("D14")

GOOD = "@article{good, title = {A good neighbour}}\n"


def doubled_strings(times: int) -> str:
    return '@string{a0 = "xxxxxxxxxx"}\n' + "".join(
        f"@string{{a{number} = a{number - 1} # a{number - 1}}}\n" for number in range(1, times)
    )


@pytest.mark.parametrize("times", [28, 40, 400])
def test_doubled_strings_end_with_the_output_budget_and_keep_the_entries_before(times: int) -> None:
    text = GOOD + doubled_strings(times) + f"@article{{bomb, title = a{times - 1}}}\n"
    found = read_bibtex(text)
    assert [imported.item["id"] for imported in found.items] == ["good"]
    [failure] = found.failures
    assert (
        f"more than {len(text) * OUTPUT_PER_INPUT + OUTPUT_ALLOWANCE} characters" in failure.reason
    )
    assert "definitions" in failure.reason


def test_one_long_string_used_again_and_again_is_counted_each_time() -> None:
    text = (
        '@string{long = "'
        + "x" * 100_000
        + '"}\n'
        + "".join(f"@article{{k{n}, title = long}}\n" for n in range(1000))
    )
    found = read_bibtex(text)
    assert found.failures
    assert (
        sum(len(imported.item["title"]) for imported in found.items)
        <= len(text) * OUTPUT_PER_INPUT + OUTPUT_ALLOWANCE
    )


def test_a_big_parent_of_many_children_is_counted_for_each_of_them() -> None:
    parent = "@xdata{p, abstract = {" + "x" * 100_000 + "}}\n"
    found = read_bibtex(
        GOOD + parent + "".join(f"@book{{k{n}, xdata = {{p}}}}\n" for n in range(1000))
    )
    assert found.items[0].item["id"] == "good"
    assert "characters" in found.failures[0].reason


def test_a_long_chain_of_parents_is_followed_for_two_hundred_generations_and_no_further() -> None:
    text = "".join(f"@book{{k{n}, crossref = {{k{n + 1}}}, title = {{t}}}}\n" for n in range(2000))
    found = read_bibtex(text)
    assert len(found.items) == 2000
    assert any(
        f"more than {MAX_DEPTH} generations" in warning.message for warning in found.warnings
    )


def test_a_value_that_is_nested_too_deep_fails_alone() -> None:
    deep = "@article{deep, title = {x" + "{" * 300 + "y" + "}" * 300 + "}}\n"
    found = read_bibtex(GOOD + deep + GOOD.replace("good", "after"))
    assert [imported.item["id"] for imported in found.items] == ["good", "after"]
    assert f"{MAX_DEPTH} levels" in found.failures[0].reason


@pytest.mark.parametrize(
    "kind",
    [
        InputKind.PUBMED_XML,
        InputKind.ENDNOTE_XML,
        InputKind.MODS,
        InputKind.MARC_XML,
        InputKind.MS_BIB,
        InputKind.CITAVI,
    ],
)
def test_xml_that_is_nested_too_deep_is_refused_with_its_depth(kind: InputKind) -> None:
    with pytest.raises(InputTooCostlyError) as refusal:
        read_bibliography("<a>" * 5_000 + "</a>" * 5_000, kind)
    assert refusal.value.details == {"exceeded": "depth", "limit": MAX_DEPTH}


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[" * 5_000 + "]" * 5_000, '[{"title":' + "[" * 300 + "]" * 300 + "}]"]
)
def test_json_that_is_nested_too_deep_is_refused_and_never_a_recursion_error(text: str) -> None:
    try:
        found = read_bibliography(text, InputKind.CSL_JSON)
    except InputTooCostlyError as refusal:
        assert refusal.exceeded == "depth"
    else:
        assert found.failures


def test_a_number_of_many_digits_is_a_failure_of_its_entry_and_no_crash() -> None:
    digits = "1" * 10_000
    assert read_bibliography(f'[{{"title": {digits}}}]', InputKind.CSL_JSON).failures
    assert read_bibtex(
        f"@article{{k, year = {{{digits}}}, month = {{{digits}}}, date = {{{digits}}}}}"
    ).items
    assert read_bibliography(
        f"TY  - JOUR\nPY  - {digits}\nDA  - {digits}\nER  - \n", InputKind.RIS
    ).items


@pytest.mark.parametrize(
    "block",
    [
        "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60)),
        "a0: &a0 {k: v}\n"
        + "".join(f"a{n}: &a{n}\n  <<: [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60)),
        "a: &a [*a]\n",
        "a: " + "[" * 1000 + "]" * 1000,
        "- " * 1000 + "a",
        "a: *nothing\n",
    ],
)
def test_front_matter_that_grows_or_nests_without_end_is_refused(block: str) -> None:
    with pytest.raises(FrontMatterError):
        load_front_matter(block)


def test_ordinary_aliases_in_front_matter_are_read() -> None:
    assert load_front_matter("one: &one [a, b]\ntwo: *one\n") == {
        "one": ["a", "b"],
        "two": ["a", "b"],
    }


def test_an_overlong_number_in_front_matter_is_text() -> None:
    assert load_front_matter("year: " + "1:" * 50_000 + "1") == {"year": "1:" * 50_000 + "1"}
    assert load_front_matter("year: 1999\npi: 3.5") == {"year": 1999, "pi": 3.5}


def test_the_computing_time_of_a_reading_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "thread_time", lambda: now[0])
    budget = Budget("the input", 1_000_000)
    budget.check_time()
    now[0] = 2.9
    budget.check_time()
    now[0] = 3.1
    with pytest.raises(InputTooCostlyError) as refusal:
        budget.check_time()
    assert refusal.value.exceeded == "cpu"
    assert refusal.value.next_step


def test_a_reading_inside_another_spends_from_the_same_budget() -> None:
    with parsing("outer", 10) as outer, parsing("inner", 1_000_000) as inner:
        assert inner is outer is current_budget()


@pytest.mark.anyio
async def test_when_the_caller_stops_waiting_the_reader_on_the_thread_ends() -> None:
    begun, ended = threading.Event(), threading.Event()

    def read_for_ever() -> None:
        try:
            with parsing("the input", 0) as budget:
                begun.set()
                while True:
                    budget.step()
        finally:
            ended.set()

    waiting = asyncio.create_task(parse_in_thread(read_for_ever))
    await asyncio.to_thread(begun.wait)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.to_thread(ended.wait)


REFERENCES = [
    {
        "id": f"r{number}",
        "type": "book",
        "title": f"Book {number}",
        "author": [{"family": "Berg", "given": f"A{number}"}],
    }
    for number in range(60)
]


@pytest.mark.parametrize("is_bibliography", [True, False])
def test_the_computing_time_of_citations_ends(
    monkeypatch: pytest.MonkeyPatch, is_bibliography: bool
) -> None:
    looks = itertools.count()
    monkeypatch.setattr(time, "thread_time", lambda: float(next(looks)))
    styles = CitationStyles(None)
    render = styles.render_bibliography if is_bibliography else styles.render_in_text
    with pytest.raises(CostlyInputError) as refusal:
        asyncio.run(render(REFERENCES, "apa", "text", None))
    assert refusal.value.exceeded == "cpu"
    assert refusal.value.code == "input_too_costly"
    assert refusal.value.details["exceeded"] == "cpu"
    assert refusal.value.next_step


@pytest.mark.parametrize("form", [ExportFormat.BIBTEX, ExportFormat.BIBLATEX, ExportFormat.RIS])
def test_an_export_ends_when_nobody_waits_for_it(form: ExportFormat) -> None:
    is_over = threading.Event()
    token = budget_module._cancellation.set(is_over)
    try:
        assert "Book 59" in write_bibliography(REFERENCES, form)
        is_over.set()
        with pytest.raises(InputTooCostlyError) as ended:
            write_bibliography(REFERENCES, form)
    finally:
        budget_module._cancellation.reset(token)
    assert ended.value.exceeded == "cancelled"


@pytest.mark.parametrize(
    ("kind", "head", "tail"),
    [
        (InputKind.RIS, "TY  - JOUR\nTI  - a\nDO  - ", "\nER  - \n"),
        (InputKind.REFER, "%0 Journal Article\n%T a\n%R ", "\n"),
        (InputKind.BIBTEX, "@article{k, title = {a}, doi = {", "}}"),
        (InputKind.CSL_JSON, '[{"id": "a", "title": "a", "DOI": "', '"}]'),
    ],
)
def test_a_doi_without_end_is_kept_apart_and_never_a_recursion_error(
    kind: InputKind, head: str, tail: str
) -> None:
    found = read_bibliography(f"{head}{'10.1234/' * 5_000}{tail}", kind)
    assert len(found.items) == 1


def test_nesting_is_judged_without_recursion() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InputTooCostlyError):
        check_nesting(deep, "the JSON")
    while deep:
        deep = deep.pop()  # type: ignore[assignment]
