"""Searching a library: the syntax, the order of the answers, and an index that follows the file."""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.core.nothing_found import NothingFound
from carrel.libraries.query.language import YearRange
from carrel.rooms.references.items import Item
from carrel.rooms.references.matching import matches
from carrel.rooms.references.queries import (
    AllTerms,
    AnyTerm,
    NotTerm,
    ReferenceNode,
    ReferenceTerm,
    parse_reference_query,
)
from carrel.stores.csl_json.document import LibraryDocument
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.stores.csl_json.search.library_search import LibrarySearch
from tests.processes import warm
from tests.rooms.references.desk import Reader, Stage

SMITH: Item = {
    "id": "smith-2024",
    "type": "article-journal",
    "title": "Measuring RNA in Größe",
    "author": [{"family": "Smith", "given": "Ann"}, {"family": "Müller", "given": "Jörg"}],
    "issued": {"date-parts": [[2024, 3]]},
    "DOI": "10.1234/ABC",
    "PMID": "123",
    "keyword": "sequencing; single cell",
    "custom": {"tags": ["to-read"], "uuid": "u-1"},
}
TANAKA: Item = {
    "id": "tanaka-nd",
    "type": "book",
    "title": "田中の本 on aids for learning",
    "ISBN": "978-0-306-40615-7",
    "publisher-place": "Leipzig",
}
OERSTED: Item = {
    "id": "ørsted-1820",
    "type": "article-journal",
    "title": "The ÖBB’s first needle: self‑induction",
    "author": [{"family": "Ørsted", "given": "Hans Christian"}],
}
LIBRARY = [SMITH, TANAKA]


@contextmanager
def opened(items: Sequence[Item]) -> Iterator[tuple[Path, LibrarySearch]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "library.json"
        path.write_text(json.dumps(items), encoding="utf-8")
        search = LibrarySearch(LibraryFile(path), Path(folder) / "library-attachments")
        yield path, search
        search.close()


def ids(search: LibrarySearch, query: str, first: int = 0, count: int = 5_000) -> list[str]:
    return [item["id"] for item in search.search(parse_reference_query(query), first, count).items]


@pytest.fixture(scope="module", autouse=True)
def shared() -> Iterator[None]:
    """Libraries that no test changes are indexed once."""
    yield
    for stack, _ in SHARED.values():
        stack.close()
    SHARED.clear()


SHARED: dict[str, tuple[ExitStack, LibrarySearch]] = {}


def shared_search(items: Sequence[Item]) -> LibrarySearch:
    key = json.dumps(items)
    if key not in SHARED:
        stack = ExitStack()
        SHARED[key] = (stack, stack.enter_context(opened(items))[1])
    return SHARED[key][1]


def found(query: str, items: Sequence[Item] = LIBRARY) -> list[str]:
    return ids(shared_search(items), query)


def replace_library(path: Path, items: Sequence[Item]) -> None:
    """As our own commands would change it: nothing of before is merged in."""
    text = json.dumps(items).encode()
    LibraryFile(path).change(lambda present: LibraryDocument.parse(text).reuse_entries(present))


@pytest.mark.promise("L6")
@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("smith", ["smith-2024"]),
        ("muller", ["smith-2024"]),
        ("Müller rna", ["smith-2024"]),
        ("grosse", ["smith-2024"]),
        ("große", ["smith-2024"]),
        ("Größe", ["smith-2024"]),
        ("measur", ["smith-2024"]),
        ("smith learning", []),
        ('"single cell"', ["smith-2024"]),
        ('"cell single"', []),
        ("author:muller", ["smith-2024"]),
        ("title:muller", []),
        ("year:2024", ["smith-2024"]),
        ("year:202", []),
        ("doi:10.1234/abc", ["smith-2024"]),
        ("DOI:10.1234/ABC", ["smith-2024"]),
        ("doi:10.1234/ab", []),
        ("pmid:123", ["smith-2024"]),
        ("isbn:9780306406157", ["tanaka-nd"]),
        ("id:SMITH-2024", ["smith-2024"]),
        ("type:book", ["tanaka-nd"]),
        ("tag:to-read", ["smith-2024"]),
        ("keyword:sequencing", ["smith-2024"]),
        ("田中", ["tanaka-nd"]),
        ("AIDS", []),
        ("aids", ["tanaka-nd"]),
        ("RNA", ["smith-2024"]),
        ("unknown:smith", []),
        ("leipzig", ["tanaka-nd"]),
        ("", ["smith-2024", "tanaka-nd"]),
    ],
)
def test_the_syntax_of_a_reference_search(query: str, ids: list[str]) -> None:
    assert found(query) == ids


@pytest.mark.promise("L6")
@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        ("orsted", True),
        ("Ørsted", True),
        ("author:ORSTED", False),
        ("author:orsted", True),
        ("id:orsted-1820", True),
        ('"obb\'s first"', True),
        ("self-induction", True),
        ("OBB", True),
        ("ÖBB", True),
        ("ÖBBS", False),
    ],
)
def test_letters_and_signs_are_folded_as_in_every_room(query: str, is_found: bool) -> None:
    assert found(query, [OERSTED]) == (["ørsted-1820"] if is_found else [])


WORDS = st.sampled_from(
    ["gene", "general", "gen", "RNA", "cell", "single cell", "éa", "a", "2019", "smith"]
)
SOME_ITEMS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.uuids().map(str),
            "type": st.just("book"),
            "title": st.lists(WORDS, max_size=4).map(" ".join),
        }
    ),
    max_size=12,
)


QUERIES = st.lists(WORDS, min_size=1, max_size=3).flatmap(
    lambda words: st.sampled_from(
        [
            " ".join(f'"{word}"' for word in words),
            " OR ".join(f'"{word}"' for word in words),
            f'"{words[0]}" -"{words[-1]}"',
            f'title:"{words[0]}"',
            f"{words[0].replace(' ', '')}*",
            f'NOT ("{words[0]}" OR title:"{words[-1]}")',
        ]
    )
)


def _some_library() -> list[Item]:
    chance = random.Random(3)
    words = ["gene", "general", "gen", "RNA", "cell", "single cell", "éa", "a", "2019", "smith"]
    return [
        {"id": f"n{number}", "type": "book", "title": " ".join(chance.choices(words, k=number % 5))}
        for number in range(60)
    ]


@settings(max_examples=60, deadline=None)
@given(QUERIES)
def test_the_index_answers_as_looking_at_every_reference_would(query: str) -> None:
    items = _some_library()
    node = parse_reference_query(query).node
    expected = {item["id"] for item in items if _fits(item, node)}
    assert set(found(query, items)) == expected


def _fits(item: Item, node: ReferenceNode | None) -> bool:
    match node:
        case None:
            return True
        case ReferenceTerm():
            return matches(item, node)
        case NotTerm(part):
            return not _fits(item, part)
        case AllTerms(parts):
            return all(_fits(item, part) for part in parts)
        case AnyTerm(parts):
            return any(_fits(item, part) for part in parts)
        case YearRange():
            return False


@settings(max_examples=6, deadline=None)
@given(SOME_ITEMS, SOME_ITEMS, st.data(), WORDS)
def test_an_index_that_followed_the_file_equals_one_that_was_made(
    before: list[Item], more: list[Item], data: st.DataObject, word: str
) -> None:
    after = data.draw(st.permutations([item for item in before if data.draw(st.booleans())] + more))
    with opened(before) as (path, search):
        ids(search, word)
        replace_library(path, after)
        expected = {item["id"] for item in after if _fits(item, parse_reference_query(word).node)}
        assert set(ids(search, word)) == expected
        assert ids(search, " ") == [item["id"] for item in after]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_anything_typed_is_understood(query: str) -> None:
    shared_search(GENES).search(parse_reference_query(query), 0, 10)
    shared_search(GENES).explain(parse_reference_query(query))


def test_a_page_is_taken_out_without_the_rest() -> None:
    items: list[Item] = [
        {"id": str(number), "type": "book", "title": "cell"} for number in range(300)
    ]
    with opened(items) as (_, search):
        page = search.search(parse_reference_query("cell"), 100, 3)
        assert page.total == 300
        assert [item["id"] for item in page.items] == ["100", "101", "102"]
        assert ids(search, "cell", 300, 10) == []


MORE: Item = {
    "id": "more",
    "type": "webpage",
    "title": "Plain",
    "title-short": "Sonnet",
    "PMID": 77,
    "PMCID": "PMC0012",
    "DOI": "https://doi.org/10.48550/arXiv.1706.03762",
    "URL": "https://example.org/a",
    "container-title": "Weekly",
    "volume": 31,
    "keyword": "alpha; beta",
    "custom": {
        "uuid": "U-2",
        "tags": ["later"],
        "additional_urls": ["https://example.org/b"],
        "eric_id": "EJ99",
    },
}


@pytest.mark.promise("L6")
@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        ("id:u-2", True),
        ("id:mor", False),
        ("pmid:77", True),
        ("pmid:7", False),
        ("pmcid:PMC12", True),
        ("pmcid:PMC0012", True),
        ("pmcid:12", True),
        ("pmcid:1", False),
        ("doi:10.48550/arxiv.1706.03762", True),
        ("doi:https://doi.org/10.48550/arXiv.1706.03762", True),
        ("url:https://example.org/a", True),
        ("url:https://example.org/b", True),
        ("url:https://example.org/", False),
        ("year:2024", False),
        ("type:webpage", True),
        ("type:web", False),
        ("title:sonnet", True),
        ("title:weekly", False),
        ("keyword:beta", True),
        ("keyword:later", False),
        ("tag:later", True),
        ("tag:beta", False),
        ("weekly 31 ej99 webpage", True),
        ("ej99 absent", False),
        ('title:"plain sonnet"', True),
        ('"plain sonnet', True),
        ("isbn:9780306406157", False),
        ("SONNET", False),
        ("title:SONNET", False),
        ("title:Sonnet", True),
        ("in", True),
        ("zq", False),
        ("url:", False),
    ],
)
def test_every_field_matches_its_own_values_alone(query: str, is_found: bool) -> None:
    assert found(query, [MORE]) == (["more"] if is_found else [])


def test_a_term_keeps_its_capitals_only_where_two_are_adjacent_in_a_text() -> None:
    (rna,) = parse_reference_query("RNA").terms
    assert (rna.text, rna.field, rna.exact_case) == ("rna", None, "RNA")
    (titled,) = parse_reference_query('Title:"The  ÖBB"').terms
    assert (titled.text, titled.field, titled.exact_case) == ("the obb", "title", "The OBB")
    for query in ("Rna", "doi:10.1/ABC", "id:SMITH"):
        (term,) = parse_reference_query(query).terms
        assert term.exact_case is None
    (foreign,) = parse_reference_query("other:word").terms
    assert (foreign.text, foreign.field) == ("other:word", None)
    assert parse_reference_query('"" title:""').terms == ()


GENES: list[Item] = [
    {"id": "hogwild", "title": "HOGWILD! a lock-free approach", "abstract": "general and generic"},
    {"id": "late-1999", "title": "Later work", "abstract": "a gene among many words of the text"},
    {"id": "gene-2001", "title": "A gene drive", "issued": {"date-parts": [[2001]]}},
    {"id": "plain-2003", "title": "Generations", "issued": {"date-parts": [[2003]]},
     "DOI": "10.1234/gene", "author": [{"family": "Gene", "given": "Ann"}]},
]  # fmt: skip


def test_the_best_come_first_and_whole_words_before_parts_of_words() -> None:
    assert found("gene", GENES)[:2] == ["gene-2001", "plain-2003"]
    assert found("gene", GENES)[-1] == "hogwild"
    assert set(found("gene", GENES)) == {item["id"] for item in GENES}


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("late-1999", "late-1999"),
        ("10.1234/gene", "plain-2003"),
        ("https://doi.org/10.1234/GENE", "plain-2003"),
        ("hogwild! a lock", "hogwild"),
        ("generations", "plain-2003"),
        ("Gene", "plain-2003"),
    ],
)
def test_a_key_a_doi_and_the_beginning_of_a_title_come_first(query: str, first: str) -> None:
    more: list[Item] = [
        {"id": f"n{number}", "title": "gene late 1999 lock generations hogwild 10.1234/genes a"}
        for number in range(5)
    ]
    named = [item for item in GENES if query != "Gene"] + [
        {"id": "gene", "title": "other"} for _ in range(query == "Gene")
    ]
    assert found(query, more + named)[0] == (first if query != "Gene" else "gene")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("year:2001..2002", ["gene-2001"]),
        ("year:2002..", ["plain-2003"]),
        ("gene -drive year:..2002", []),
        ("title:gene OR title:generations", ["gene-2001", "plain-2003"]),
        ("gene NOT (title:drive OR lock OR later)", ["plain-2003"]),
        ("gene*  title:drive", ["gene-2001"]),
        ("title:ene*", []),
        ("has:doi", ["plain-2003"]),
        ("jurnal:gene", []),
    ],
)
def test_references_are_asked_in_the_one_query_language(query: str, expected: list[str]) -> None:
    assert sorted(found(query, GENES)) == sorted(expected)


def test_other_spellings_and_forms_of_a_word_are_found() -> None:
    items: list[Item] = [
        {"id": "a", "title": "Abstractive summarization with pre-trained models"},
        {"id": "b", "title": "Effects of TNF-α on tumours"},
    ]
    with opened(items) as (_, search):
        for query in ("summarisation", "summarise pretrained", "model"):
            assert ids(search, query) == ["a"], query
        for query in ("tumor", "TNF-alpha", "effect"):
            assert ids(search, query) == ["b"], query


def test_the_text_that_is_attached_is_searched_after_what_the_library_says() -> None:
    items: list[Item] = [
        {"id": "with", "title": "Plain", "custom": {"fulltext": {"markdown": "with.md"}}},
        {"id": "outside", "title": "Other", "custom": {"fulltext": {"markdown": "../out.md"}}},
        {"id": "named", "title": "Axolotl limbs"},
    ]
    with opened(items) as (path, search):
        folder = path.parent / "library-attachments"
        folder.mkdir()
        (folder / "with.md").write_text("We regrow axolotl limbs in the dark.", encoding="utf-8")
        (path.parent / "out.md").write_text("axolotl", encoding="utf-8")
        assert ids(search, "axolotl") == ["named", "with"]
        assert ids(search, "plain axolotl") == ["with"]
        assert ids(search, '"limbs in the dark"') == ["with"]
        [passage] = search.search(parse_reference_query("axolotl"), 0, 5).passages
        assert (passage.reference_id, passage.text) == (
            "with",
            "We regrow axolotl limbs in the dark.",
        )
        assert passage.id.startswith("with~")
        replace_library(path, items[1:])
        assert search.search(parse_reference_query("axolotl"), 0, 5).passages == []
        assert ids(search, "axolotl") == ["named"]


def test_an_empty_answer_says_why() -> None:
    with opened(GENES) as (_, search):
        typo = search.explain(parse_reference_query("genreations drive"))
        assert typo.documents == 4
        assert typo.unmatched_words == ("genreations",)
        assert typo.did_you_mean == {"genreations": ["generations"]}
        assert typo.nearest[0] == "A gene drive (2001)"
        filtered = search.explain(parse_reference_query("drive year:1850"))
        assert filtered.unmatched_filters == ("year:1850",)
        removed = search.explain(parse_reference_query("drive -title:gene"))
        assert removed.removing_filters == ("-title:gene",)
        told = search.explain(parse_reference_query("jurnal:nature"))
        assert "Did you mean journal:?" in told.message
    with opened([]) as (_, search):
        assert search.explain(parse_reference_query("gene")).documents == 0


def test_the_index_follows_its_library_through_many_changes() -> None:
    items: list[Item] = [{"id": str(n), "title": "cell", "PMID": n} for n in range(300)]
    with opened(items) as (path, search):
        assert ids(search, "pmid:7") == ["7"]
        for turn in range(3):
            items = [{**item, "title": f"cell turn{turn}"} for item in items]
            replace_library(path, items)
            assert len(ids(search, "cell")) == 300
            assert len(ids(search, f"turn{turn}")) == 300
            assert ids(search, f"turn{turn - 1}") == []
            assert ids(search, "pmid:7") == ["7"]
        replace_library(path, items[::-1])
        assert ids(search, "type:x") == []
        assert ids(search, " ")[:2] == ["299", "298"]
        replace_library(path, items[5:7])
        assert sorted(ids(search, "cell")) == ["5", "6"]
        replace_library(path, [])
        assert ids(search, "cell") == []


@pytest.mark.parametrize("count", [3, 200, 2_500])
def test_words_of_few_and_of_many_references_are_found_alike(count: int) -> None:
    items: list[Item] = [
        {"id": str(number), "title": f"common{number}" + ("rare" if number % 50 == 0 else "")}
        for number in range(count)
    ]
    with opened(items) as (_, search):
        for query, expected in (
            ("common", count),
            ("ommo", count),
            ("rare", len(range(0, count, 50))),
            ("co", count),
            ("c", count),
        ):
            page = search.search(parse_reference_query(query), 0, 2)
            assert (page.total, len(page.items)) == (expected, min(2, expected)), query


def test_an_index_that_is_damaged_or_half_made_is_made_again() -> None:
    chance = random.Random(7)
    for _ in range(6):
        with opened(GENES) as (path, search):
            expected = ids(search, "gene")
            folder = path.parent / ".library.json.carrel" / "search"
            files = sorted(file for file in folder.rglob("*") if file.is_file())
            for file in chance.sample(files, 3):
                # Not in place: what a search has mapped must not shrink under it.
                file.unlink()
                if chance.random() < 0.5:
                    file.write_bytes(b"x" * chance.randrange(40))
            other = LibrarySearch(LibraryFile(path), path.parent / "library-attachments")
            assert ids(other, "gene") == expected
            assert ids(other, "riv") == ["gene-2001"]
            assert other.search(parse_reference_query("drive"), 0, 5).total == 1


_KILLED = """
import os, sys
from pathlib import Path
from carrel.rooms.references.queries import parse_reference_query
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.stores.csl_json.search import index
from carrel.stores.csl_json.search.library_search import LibrarySearch
from carrel.stores.csl_json.search.records import IndexRecords
from carrel.stores.search.parts import PartWriter

def die(*_, **__):
    os.kill(os.getpid(), 9)

where = sys.argv[2]
if where == "before the entries are committed":
    PartWriter.finish = die
elif where == "before the records are stored":
    IndexRecords.finish = die
else:
    index.LibraryIndex._write = die
search = LibrarySearch(LibraryFile(Path(sys.argv[1])), Path(sys.argv[1]).parent)
search.search(parse_reference_query("gene"), 0, 5)
"""


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(
    "where",
    ["before anything", "before the entries are committed", "before the records are stored"],
)
def test_a_process_killed_while_it_follows_the_file_loses_nothing(
    where: str, is_first: bool
) -> None:
    with opened(GENES[:2]) as (path, search):
        if not is_first:
            ids(search, "gene")
        replace_library(path, GENES[1:])
        killed = warm.run([sys.executable, "-c", _KILLED, str(path), where], check=False)
        assert killed.returncode == -9
        for each in (search, LibrarySearch(LibraryFile(path), path.parent)):
            assert set(ids(each, "gene")) == {item["id"] for item in GENES[1:]}
            assert ids(each, "lock") == []
            assert each.search(parse_reference_query("drive"), 0, 5).total == 1


def test_two_processes_see_each_others_changes_at_the_next_search() -> None:
    with opened(GENES) as (path, one):
        other = LibrarySearch(LibraryFile(path), path.parent)
        assert ids(one, "axolotl") == ids(other, "axolotl") == []
        replace_library(path, [*GENES, {"id": "new", "title": "Axolotl"}])
        assert ids(one, "axolotl") == ids(other, "axolotl") == ["new"]
        replace_library(path, GENES)
        assert ids(other, "axolotl") == ids(one, "axolotl") == []


def test_a_search_of_a_library_that_is_indexed_does_not_read_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with opened(GENES) as (path, search):
        expected = ids(search, "gene")
        fresh = LibrarySearch(LibraryFile(path), path.parent)
        monkeypatch.setattr(LibraryFile, "read", _refuse)
        assert ids(fresh, "gene") == expected


def _refuse(_: LibraryFile) -> None:
    raise AssertionError("the file was read")


def test_a_longer_question_gets_those_that_have_most_of_its_words() -> None:
    with opened(GENES) as (_, search):
        found = search.search(parse_reference_query("Which lock protects a gene drive?"), 0, 9)
        assert found.is_partial
        assert found.items[0]["id"] == "gene-2001"
        assert not search.search(parse_reference_query("lock axolotl"), 0, 9).items
        assert not search.search(parse_reference_query('lock "gene drive" later'), 0, 9).items
        whole = search.search(parse_reference_query("What is the gene drive?"), 0, 9)
        assert ([item["id"] for item in whole.items], whole.is_partial) == (["gene-2001"], False)


async def _empty_answers(reader: Reader) -> None:
    await reader.ask(
        "add_references", input='[{"id": "a", "type": "book", "title": "Generations"}]'
    )
    answer = await reader.ask("search_references", query="generatoins")
    assert (answer["total"], answer["references"]) == (0, [])
    assert isinstance(reader.explanation, NothingFound)
    assert reader.explanation.did_you_mean == {"generatoins": ["generations"]}
    answer = await reader.ask("search_references", query="titel:generations OR generations")
    assert answer["total"] == 1
    assert reader.explanation is not None and "titel:" in reader.explanation.message
    await reader.ask("search_references", query="generations")
    assert reader.explanation is None


def test_an_empty_answer_is_explained_at_the_door(tmp_path: Path) -> None:
    Stage(tmp_path).play(_empty_answers)
