"""Who asks for what to which end: how a sentence asks, and the part that each clause plays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

_BLOCK = re.compile(r"^\[(\w+)\]\n(.+?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL)
# How far into a sentence its order or question may begin, after a pretext or an address.
_OPENING = 14
_BARE_ORDER = 6
_QUESTION = 7
_WISH = 5
# `to` this early belongs to an opening such as `how to`, not to a purpose.
_FIRST_PURPOSE = 4


@cache
def _words(name: str) -> frozenset[str]:
    text = (Path(__file__).parent / "clause_words.txt").read_text(encoding="utf-8")
    return {head: frozenset(body.split()) for head, body in _BLOCK.findall(text)}[name]


def sentence_form(words: Sequence[str]) -> str:
    """How a sentence asks: an order to do, seek, study or mend; a question; a wish; or a noun."""
    for place, word in enumerate(words[:_OPENING]):
        if word in _words("asking"):
            return _question_form(words[place : place + _QUESTION])
        if place == 0 and word in _words("yes_or_no"):
            return "ask_could" if word in _words("could") else "ask_whether"
        if word in _words("persons") and not _words("wishing").isdisjoint(
            words[place : place + _WISH]
        ):
            return "wish"
        if form := _order_form(words, place):
            return form
    return "noun"


def _question_form(words: Sequence[str]) -> str:
    if not _words("could").isdisjoint(words[1:]):
        return "ask_could"
    return "ask_fact" if _words("can").isdisjoint(words[1:]) else "ask_can"


def _order_form(words: Sequence[str], place: int) -> str:
    word, before = words[place], words[place - 1] if place else ""
    if before in _words("no_verb_after"):
        return ""
    if word in _words("seeking"):
        is_study = not _words("after_seeking").isdisjoint(words[place + 1 : place + 3])
        return "study" if is_study and word != "work" else "seek"
    if place > _BARE_ORDER and before not in {"to", "and", "please"}:
        return ""
    for form, verbs in (("study", "studying"), ("mend", "mending"), ("do", "doing")):
        if word in _words(verbs):
            return form
    return ""


def clause_roles(words: Sequence[str]) -> list[str]:
    """For each word the part of its clause: what is asked, its end, manner, or more of it."""
    roles: list[str] = []
    role = "main"
    for place, word in enumerate(words):
        if word in _words("manners"):
            role = "manner"
        elif _is_aim(words, place):
            role = "aim"
        elif role == "main" and word in _words("links"):
            role = "more"
        elif role == "main" and word in _words("relatives") and place > 1:
            role = "which"
        roles.append(role)
    return roles


def _is_aim(words: Sequence[str], place: int) -> bool:
    word = words[place]
    if word == "to":
        return place >= _FIRST_PURPOSE and words[place - 1] not in _words("no_aim_after")
    return word in _words("aims")
