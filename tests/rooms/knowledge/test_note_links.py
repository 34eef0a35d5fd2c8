"""Notes link to notes, papers, references, passages and hypotheses, and these show the notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.rooms.knowledge.links import MAX_LINK_TARGETS, find_links, link_term
from tests.rooms.knowledge.desk import Ask, at_the_desk, caller
from tests.rooms.knowledge.test_neighbours import KNUTH, corpus, library
from tests.rooms.papers.conftest import TRANSFORMER

ALL = ("knowledge:write", "papers:read", "references:write", "hypotheses:read", "research:write")
ADA, BOB = caller("ada", *ALL), caller("bob", *ALL)
CHIEF = caller("chief", *ALL, "knowledge:promote")
MEEK = caller("meek", "papers:read", "references:write")


@pytest.mark.parametrize(
    ("text", "kind", "key"),
    [
        ("[[Ion channel|shown]]", "note", "Ion channel"),
        ("[[folder/Ion channel.md#part]]", "note", "folder/Ion channel"),
        ("[[note:abc123]]", "note", "note:abc123"),
        ("[[paper:0123abc]]", "paper", "0123abc"),
        ("[[paper:10.1000/X.Y]]", "doi", "10.1000/x.y"),
        ("[[paper:2101.00001v2]]", "arxiv", "2101.00001"),
        ("see paper://0123abc.", "paper", "0123abc."),
        ("(doi:10.1000/a(b)c).", "doi", "10.1000/a(b)c"),
        ("_10.1000/a_.", "doi", "10.1000/a"),
        ("见10.1000/a。然后", "doi", "10.1000/a"),
        ("https://doi.org/10.1000/182;", "doi", "10.1000/182"),
        ("[[10.1000/182]]", "doi", "10.1000/182"),
        ("arXiv:2101.00001v3 says", "arxiv", "2101.00001"),
        ("https://arxiv.org/abs/hep-th/9901001", "arxiv", "hep-th/9901001"),
        ("[[ref:knuth1974]]", "ref", "knuth1974"),
        ("[[abc~0123456789]]", "passage", "abc~0123456789"),
        ("[[passage:abc~0123456789.2]]", "passage", "abc~0123456789.2"),
        ("[[hypothesis:hyp_7]]", "hypothesis", "hyp_7"),
        ("hypothesis://hyp_7", "hypothesis", "hyp_7"),
    ],
)
def test_a_link_is_read_as_what_it_points_at(text: str, kind: str, key: str) -> None:
    (target,) = find_links(text)
    assert (target.kind, target.key.rstrip(".")) == (kind, key.rstrip("."))


def test_links_in_code_are_none_and_each_thing_counts_once() -> None:
    assert find_links("`[[A]]`\n```\n[[paper:x]]\n```\n") == []
    text = "[[A]] 10.1000/1 doi:10.1000/1 [[10.1000/1]] [[A]] [[B]]"
    assert [target.key for target in find_links(text)] == ["A", "10.1000/1", "B"]
    many = " ".join(f"[[n{number}]]" for number in range(MAX_LINK_TARGETS + 50))
    assert len(find_links(many)) == MAX_LINK_TARGETS


_DOI_ENDS = st.text("abcXYZ019", min_size=1, max_size=5)
_DOI_MIDDLES = st.text("abcXYZ019._-;()/:", max_size=10)


@given(
    suffix=st.tuples(_DOI_ENDS, _DOI_MIDDLES, _DOI_ENDS).map("".join),
    before=st.sampled_from(["", "See ", "(", "[", "**", "_", "“", "(see doi:", "https://doi.org/"]),
    after=st.text(".,;:!?)]*_”’", max_size=5),
)
def test_a_doi_in_a_sentence_is_written_without_the_sentence(
    suffix: str, before: str, after: str
) -> None:
    """Whatever surrounds it: what a link shows as its target is a DOI and nothing else."""
    if ")" in after and suffix.count("(") > suffix.count(")"):
        after = after.replace(")", "")
    (target,) = find_links(f"{before}10.1000/{suffix}{after} and so on.")
    assert target.written == f"10.1000/{suffix}"
    assert target.key == f"10.1000/{suffix}".lower()


def test_a_save_tells_tags_and_where_links_lead(tmp_path: Path) -> None:
    async def asked(ask: Ask) -> None:
        target = await ask(ADA, "save_knowledge", title="Ion channel", content="gates", tags=["x"])
        content = f"[[Ion channel]], [[paper:{TRANSFORMER.paper_id}]]; see 10.1000/absent."
        saved = await ask(ADA, "save_knowledge", title="L", content=content, tags=["#one", "two"])
        assert saved.tags == ("one", "two")
        assert [(link.target, link.id) for link in saved.links] == [
            ("Ion channel", target.id),
            (f"paper:{TRANSFORMER.paper_id}", TRANSFORMER.paper_id),
            ("10.1000/absent", None),
        ]
        assert all(link.title is None for link in saved.links), "others' words are not repeated"
        changed = await ask(
            ADA, "save_knowledge", id=saved.id, updated_at=saved.updated_at, content="no links"
        )
        assert (changed.title, changed.tags, changed.links) == ("L", ("one", "two"), ())
        note = await ask(ADA, "get_knowledge", id=saved.id)
        assert note.model_dump()["linked_from"] == ()

    work(tmp_path, asked)


@given(st.text(max_size=300))
def test_any_text_has_links_or_none(text: str) -> None:
    for target in find_links(text):
        assert target.key and target.terms
    link_term(text)


def work(home: Path, asked: Any) -> Any:
    corpus(home)
    library(home, "ada", KNUTH)
    return at_the_desk(home, asked, CARREL_ROOMS="papers,references,knowledge,research")


@pytest.mark.promise("K8")
def test_a_note_shows_where_its_links_lead_and_what_links_to_it(tmp_path: Path) -> None:
    async def asked(ask: Ask) -> None:
        target = await ask(ADA, "save_knowledge", title="Ion channel", content="gates")
        content = (
            f"[[ion CHANNEL]] [[note:{target.id}]] [[paper:{TRANSFORMER.paper_id}]] "
            f"[[{TRANSFORMER.paper_id}~0123456789]] [[ref:knuth1974]] [[paper:absent]] "
            "[[ref:absent]] [[hypothesis:absent]] 10.1145/356635.356640"
        )
        saved = await ask(ADA, "save_knowledge", title="Links", content=content)
        note = await ask(ADA, "get_knowledge", id=saved.id)
        assert [(link.kind, link.id, link.title) for link in note.links] == [
            ("note", target.id, None),
            ("note", target.id, "Ion channel"),
            ("paper", TRANSFORMER.paper_id, TRANSFORMER.title),
            ("passage", TRANSFORMER.paper_id, TRANSFORMER.title),
            ("ref", "knuth1974", KNUTH["title"]),
            ("paper", None, None),
            ("ref", None, None),
            ("hypothesis", None, None),
            ("doi", None, None),
        ]
        back = await ask(ADA, "get_knowledge", id=target.id)
        assert [(each.id, each.title) for each in back.linked_from] == [(saved.id, "Links")]
        assert (await ask(ADA, "get_knowledge", id=saved.id)).linked_from == ()
        await ask(ADA, "delete_knowledge", id=saved.id)
        assert (await ask(ADA, "get_knowledge", id=target.id)).linked_from == ()

    work(tmp_path, asked)


@pytest.mark.promise("K8")
def test_a_paper_and_a_reference_show_the_notes_that_the_caller_may_see(tmp_path: Path) -> None:
    library(tmp_path, "bob", KNUTH)
    library(tmp_path, "meek", KNUTH)

    async def asked(ask: Ask) -> None:
        content = f"[[paper:{TRANSFORMER.paper_id}]] and [[ref:knuth1974]]"
        note = await ask(ADA, "save_knowledge", title="Mine", content=content)
        by_doi = await ask(
            ADA, "save_knowledge", title="By DOI", content="https://doi.org/10.1145/356635.356640"
        )

        async def about_paper(who: Any) -> list[str]:
            paper = await ask(who, "get_paper_metadata", paper_id=TRANSFORMER.paper_id)
            return [link.title for link in paper.notes]

        async def about_reference(who: Any) -> dict[str, list[str]]:
            found = await ask(who, "search_references", query="structured programming")
            assert found.total == 1
            return {key: [link.title for link in links] for key, links in found.notes.items()}

        assert await about_paper(ADA) == ["Mine"]
        assert await about_reference(ADA) == {"knuth1974": ["By DOI", "Mine"]}
        listed = await ask(ADA, "list_references")
        assert [link.id for link in listed.notes["knuth1974"]] == [by_doi.id, note.id]
        for who in (BOB, MEEK):
            assert await about_paper(who) == [] and await about_reference(who) == {}
        await ask(ADA, "propose_knowledge", id=note.id)
        await ask(CHIEF, "promote_knowledge", id=note.id)
        assert await about_paper(BOB) == ["Mine"]
        assert await about_reference(BOB) == {"knuth1974": ["Mine"]}
        assert await about_paper(MEEK) == []
        plain = await ask(MEEK, "get_paper_metadata", paper_id=TRANSFORMER.paper_id)
        assert "notes" not in plain.model_dump()

    work(tmp_path, asked)


def test_a_desk_without_notes_shows_none(tmp_path: Path) -> None:
    corpus(tmp_path)

    async def asked(ask: Ask) -> None:
        paper = await ask(ADA, "get_paper_metadata", paper_id=TRANSFORMER.paper_id)
        assert paper.notes == ()

    at_the_desk(tmp_path, asked, CARREL_ROOMS="papers")
