"""What pages make of a note's text before it is drawn: links, and parts of a long one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.core.desk_search import DeskHit, NextCall
from carrel.rooms.knowledge.links import find_links
from carrel.rooms.knowledge.models import Link
from carrel.rooms.knowledge.pages.editor_form import join_tags, split_tags, write_link
from carrel.rooms.knowledge.pages.note_text import (
    heading_level,
    link_note_text,
    link_preview_text,
    split_parts,
    without_title_line,
)


def test_links_lead_to_what_they_mean_and_code_stays() -> None:
    links = [
        Link(target="Ion channel", id="abc"),
        Link(target="paper:0123", id="0123", kind="paper", title="A [title]"),
        Link(target="Nowhere", id=None),
    ]
    text = "[[Ion channel|shown]] [[paper:0123]] [[Nowhere]] `[[Ion channel]]`\n```\n[[x]]\n```"
    assert link_note_text(text, links, "not yet") == (
        "[shown](/knowledge/note/abc) [A \\[title\\]](/papers/paper/0123) "
        '[Nowhere](/knowledge/new?title=Nowhere "not yet") `[[Ion channel]]`\n```\n[[x]]\n```'
    )


@pytest.mark.parametrize(
    "hostile",
    ['"><script>', "a)(javascript:1", "<b>", "\\", "$x$", "*a*", "(javascript:1)"],
)
def test_what_a_link_says_cannot_end_the_link(hostile: str) -> None:
    shown = link_note_text(f"[[t|{hostile}]]", [Link(target="t", id="abc")], "")
    assert shown.endswith("](/knowledge/note/abc)")
    assert "javascript" not in shown.rpartition("](")[2]
    assert "](javascript" not in shown.replace("\\]\\(javascript", "")
    wanted = link_preview_text(f"[[{hostile}]]")
    assert "](javascript" not in wanted.replace("\\]\\(javascript", "")


@given(
    lines=st.lists(st.sampled_from(["", "text " * 20, "```", "~~~", "  ", "# head"]), max_size=80)
)
def test_parts_together_are_the_text(lines: list[str]) -> None:
    content = "\n".join(lines)
    parts = split_parts(content, 200)
    assert "".join(parts) == content
    assert all(len(part) <= 2 * 200 + 200 for part in parts)


def test_code_is_not_cut_and_a_repeated_title_is_not_shown() -> None:
    code = "```\n" + "line\n\n" * 60 + "```\n\n"
    first, *_ = split_parts(code + "after\n\n" * 30, 300)
    assert first == code
    assert without_title_line("Idea", "# Idea\n\ntext") == "\ntext"
    assert without_title_line("Idea", "Idea\n\ntext") == "Idea\n\ntext"


def test_a_hit_becomes_a_link_that_is_read_back() -> None:
    def link(kind: str, title: str) -> str:
        call = NextCall(operation="x", arguments={})
        return write_link(
            DeskHit(room="r", kind=kind, id="abc1", title=title, snippet="", next=call)
        )

    assert link("note", "Ion channel") == "[[Ion channel]]"
    assert link("note", "paper: of [a]") == "[[note:abc1|paper: of a]]"
    assert link("paper", "T | x") == "[[paper:abc1|T x]]"
    assert link("reference", "R") == "[[ref:abc1|R]]"
    kinds = [find_links(link(kind, "T"))[0].kind for kind in ("paper", "reference", "hypothesis")]
    assert kinds == ["paper", "ref", "hypothesis"]


def test_the_highest_heading_is_drawn_below_the_title_of_the_page() -> None:
    assert heading_level("text", 2) == heading_level("# a\n## b", 2) == 2
    assert heading_level("### a\n## b", 2) == 1


def test_tags_are_read_between_commas() -> None:
    assert split_tags(" a, #b/c;\n a , ion  channel,, ") == ["a", "b/c", "ion channel"]
    assert split_tags(join_tags(("x", "y z"))) == ["x", "y z"]
