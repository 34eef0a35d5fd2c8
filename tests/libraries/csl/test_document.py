"""A document of citations: what it refuses, and that an edit names all it changes."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from carrel.libraries import csl
from carrel.libraries.csl import (
    CitationStyleError,
    Cite,
    Cluster,
    Document,
    Processor,
    check_item,
    list_locales,
    load_style,
)

ITEMS: list[dict[str, Any]] = [
    {
        "id": name,
        "type": "book",
        "title": f"On {name} & <others>",
        "author": [{"family": family, "given": given}],
        "issued": {"date-parts": [[year]]},
    }
    for name, family, given, year in [
        ("growth", "Thompson", "D'Arcy", 1917),
        ("form", "Thompson", "D'Arcy", 1917),
        ("size", "Thompson", "Ann", 1917),
        ("kuhn", "Kuhn", "Thomas", 1962),
        ("popper", "Popper", "Karl", 1934),
    ]
]
STYLES = ["apa", "ieee", "nature", "chicago-notes-bibliography", "modern-language-association"]


def _document(style: str = "apa", **options: Any) -> Document:
    return Document(style, ITEMS, **options)


REFUSALS: dict[str, tuple[str, Callable[[Document], object]]] = {
    "an unknown item": ("item_not_found", lambda one: one.insert("nobody")),
    "an uncited stranger": ("item_not_found", lambda one: one.set_uncited(["nobody"])),
    "no cites": ("cite_broken", lambda one: one.insert([])),
    "a label of no locator": (
        "cite_broken",
        lambda one: one.insert(Cite("kuhn", locator="3", label="pge")),
    ),
    "an unknown mode": (
        "cite_broken",
        lambda one: one.insert(Cluster([Cite("kuhn")], mode="loud")),
    ),
    "a note below 0": ("cite_broken", lambda one: one.insert("kuhn", note_number=-1)),
    "an id that is taken": (
        "cite_broken",
        lambda one: one.insert(Cluster([Cite("kuhn")], id="first")),
    ),
    "one id twice": (
        "cite_broken",
        lambda one: one.set_clusters([Cluster([Cite("kuhn")], id="a")] * 2),
    ),
    "no such place": ("cluster_not_found", lambda one: one.insert("kuhn", before="nowhere")),
    "no such cluster": ("cluster_not_found", lambda one: one.remove("nowhere")),
    "nothing to replace": ("cluster_not_found", lambda one: one.replace("nowhere", "kuhn")),
    "an unknown style": ("style_not_found", lambda one: one.set_style("chicgo")),
    "an unknown language": ("locale_not_found", lambda one: one.set_style("apa", locale="xx-XX")),
    "an item without id": ("item_broken", lambda one: one.add_items([{"title": "x"}])),
    "two items of one id": (
        "item_broken",
        lambda one: one.add_items([{"id": "new"}, {"id": "new"}]),
    ),
    "names that are none": (
        "item_broken",
        lambda one: one.add_items([{"id": "new"}, {"id": "bad", "author": 4}]),
    ),
}


@pytest.mark.parametrize("case", sorted(REFUSALS))
def test_what_is_refused_changes_nothing(case: str) -> None:
    code, edit = REFUSALS[case]
    document = _document()
    document.insert(Cluster([Cite("growth")], id="first"))
    document.insert("form")
    before = (document.citations, document.bibliography(), document.item_ids)
    with pytest.raises(CitationStyleError) as refused:
        edit(document)
    assert refused.value.code == code
    assert refused.value.next_step
    assert (document.citations, document.bibliography(), document.item_ids) == before
    assert document.insert("kuhn").citation is not None


def test_a_style_that_is_misspelt_is_guessed() -> None:
    with pytest.raises(CitationStyleError, match="Perhaps chicago"):
        load_style("chicgo")


def test_a_dialect_without_a_file_takes_its_language_and_a_stranger_is_refused() -> None:
    assert "de-DE" in list_locales()
    assert (
        "S. 3"
        in _document(locale="de-LI").insert(Cite("kuhn", locator="3")).changed["citation-1"].text
    )
    with pytest.raises(CitationStyleError) as refused:
        Processor(load_style("apa"), ITEMS, locale="xx")
    assert refused.value.code == "locale_not_found"


def test_problems_of_an_item_can_be_asked_for() -> None:
    (problem,) = check_item({"id": "a", "type": "boook"})
    assert "book" in problem.sentence()


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("seed", range(6))
def test_after_any_edits_all_reads_as_in_a_new_document(style: str, seed: int) -> None:
    chance = random.Random(seed)
    document = _document(style)
    reader: dict[str, str] = {}
    for _ in range(25):
        ids = document.cluster_ids
        citation = [
            Cite(item["id"], locator=chance.choice(["", "", "3", "7-9"]))
            for item in chance.sample(ITEMS, chance.choice([1, 1, 2]))
        ]
        match chance.choice(["insert", "insert", "before", "replace", "remove", "preview"]):
            case "before" if ids:
                update = document.insert(citation, before=chance.choice(ids))
            case "replace" if ids:
                update = document.replace(chance.choice(ids), citation)
            case "remove" if ids:
                update = document.remove(chance.choice(ids))
            case "preview":
                document.preview(citation)
                continue
            case _:
                update = document.insert(citation)
        now = document.citations
        # Whoever applies what each edit says changed sees the document as it is.
        reader = {name: text for name, text in reader.items() if name in now}
        for name, text in update.changed.items():
            assert reader.get(name) != text.html
            reader[name] = text.html
        assert reader == {name: text.html for name, text in now.items()}
    fresh = Document(style, ITEMS)
    fresh.set_clusters(
        Cluster(document.cluster(name).cites, id=name) for name in document.cluster_ids
    )
    assert fresh.citations == document.citations
    assert fresh.bibliography() == document.bibliography()


def test_what_a_preview_says_comes_true_and_leaves_no_trace() -> None:
    document = _document("ieee")
    document.insert("kuhn")
    said = document.preview("popper", before="citation-1")
    assert [text.text for text in document.citations.values()] == ["[1]"]
    update = document.insert("popper", before="citation-1")
    assert update.citation == said
    assert update.changed["citation-1"].text == "[2]"


def test_an_edit_says_whether_the_bibliography_changed() -> None:
    document = _document()
    assert document.insert("kuhn").bibliography_changed
    assert not document.insert(Cite("kuhn", locator="3")).bibliography_changed
    assert document.set_uncited(["popper"]).bibliography_changed
    assert [entry.id for entry in document.bibliography().entries] == ["kuhn", "popper"]
    changed = document.add_items([{**ITEMS[3], "issued": {"date-parts": [[1970]]}}])
    assert changed.bibliography_changed
    assert {text.text for text in changed.changed.values()} == {
        "(Kuhn, 1970)",
        "(Kuhn, 1970, p. 3)",
    }


def test_notes_are_numbered_one_after_the_other_unless_told_otherwise() -> None:
    document = _document("chicago-notes-bibliography")
    for _ in range(2):
        document.insert("kuhn")
    assert [text.text for text in document.citations.values()][1] == "Kuhn, On Kuhn & <others>."
    assert document.cluster("citation-2").note_number == 2
    document.insert("popper", note_number=9)
    document.insert("popper")
    assert document.cluster("citation-4").note_number == 10
    running = _document("chicago-notes-bibliography", number_notes=False)
    running.insert("kuhn")
    assert running.cluster("citation-1").note_number == 0


def test_clusters_of_the_caller_stay_as_they_are() -> None:
    cluster = Cluster([Cite("kuhn"), Cite("kuhn", locator="2")])
    document = _document("chicago-notes-bibliography")
    document.insert(cluster)
    document.insert(cluster)
    assert cluster == Cluster([Cite("kuhn"), Cite("kuhn", locator="2")])


def test_modes_and_affixes() -> None:
    document = _document()
    cases: dict[str, Cite | Cluster] = {
        "(see Kuhn, 1962, Chapter 3, and elsewhere)": Cite(
            "kuhn", locator="3", label="chapter", prefix="see", suffix=", and elsewhere"
        ),
        "(1962)": Cite("kuhn", suppress_author=True),
        "Kuhn (1962)": Cluster([Cite("kuhn")], mode="composite"),
        "Kuhn": Cluster([Cite("kuhn")], mode="author-only"),
    }
    for text, citation in cases.items():
        assert document.preview(citation).text == text


def test_one_rendering_in_every_format() -> None:
    document = _document()
    document.insert("kuhn")
    (entry,) = document.bibliography().entries
    assert entry.content.text == "Kuhn, T. (1962). On kuhn & <others>."
    assert entry.content.html == "Kuhn, T. (1962). <i>On kuhn &#38; &#60;others&#62;</i>."
    assert entry.content.markdown == r"Kuhn, T. (1962). *On kuhn & \<others\>*."
    assert [run.text for run in entry.content.runs if run.is_italic] == ["On kuhn & <others>"]
    assert document.bibliography().has_hanging_indent
    assert "".join(run.text for run in entry.content.runs) == str(entry.content)


def test_runs_have_flags_for_every_look() -> None:
    title = "<b>a</b><sup>b</sup><sub>c</sub><sc>d</sc>"
    document = Document("ieee", [{"id": "x", "type": "book", "title": title}])
    document.insert("x")
    bibliography = document.bibliography()
    runs = {run.text: run for run in bibliography.entries[0].content.runs}
    assert runs["[1]"].display == "left-margin"
    assert bibliography.second_field_align == "flush"
    assert runs["a"].is_bold
    assert runs["b"].is_superscript
    assert runs["c"].is_subscript
    assert runs["d"].is_small_caps
    assert not runs["a"].is_underlined


def test_what_the_library_offers_is_listed_before_it_is_imported() -> None:
    assert {"Document", "Cite", "list_styles"} <= set(dir(csl))
    assert all(hasattr(csl, name) for name in dir(csl))


def test_cites_that_name_their_first_notes_are_told_apart_by_these() -> None:
    group = (
        '<group delimiter=" "><names variable="author"><name form="short"/></names>'
        '<choose><if disambiguate="true"><text variable="title"/></if></choose>'
        '<text variable="first-reference-note-number" prefix="n "/></group>'
    )
    style = (
        '<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0" class="note">'
        "<info><id>x</id><title>x</title><updated>2020-01-01T00:00:00Z</updated></info>"
        f'<citation><layout delimiter="; "><choose><if position="subsequent">{group}</if>'
        '<else><text variable="title"/></else></choose></layout></citation></style>'
    )
    items = [
        {"id": name, "type": "book", "title": name, "author": [{"family": "Doe"}]} for name in "ab"
    ]
    apart = Document(style, items)
    for name in "abab":
        apart.insert(name)
    assert [each.text for each in apart.citations.values()] == ["a", "b", "Doe n 1", "Doe n 2"]
    together = Document(style, items)
    together.insert(["a", "b"])
    for name in "ab":
        together.insert(name)
    shown = [each.text for each in together.citations.values()]
    assert shown == ["a; b", "Doe a n 1", "Doe b n 1"]
