"""Parses one printed reference of any style into the fields of a cited work."""

from __future__ import annotations

import re
from dataclasses import replace

from carrel.libraries.works.cited_works import CitedWork
from carrel.libraries.works.reference_identifiers import MASK, take_identifiers
from carrel.libraries.works.reference_names import split_printed_names
from carrel.libraries.works.reference_tagger import TaggedToken, tag_reference

# Longer than any entry; of what is longer only identifiers are read, and the text is cut.
MAX_ENTRY_CHARACTERS = 3_000
MAX_KEPT_CHARACTERS = 10_000
_LABEL = re.compile(
    r"^\s*(?:\[(?P<key>[^\]\s][^\]]{0,40})\]|\((?P<round>\d{1,4})\)|(?P<number>\d{1,4})[.)])\s+"
)
_YEAR = re.compile(r"(?<![\d/-])(1[5-9]\d\d|20[0-4]\d)(?=[a-z]?(?![\d\w]))")
_EDGE = " \t,;:.“”„«»\"'‘’–-" + MASK
_CLOSING = {")": "(", "]": "["}
_PARTNER = {"(": ")", "[": "]"}
_PAGES = re.compile(r"[A-Za-z]?\d[\w.]*(?:\s?[-–—]\s?[A-Za-z]?\d[\w.]*)?")
_MIN_TITLE_LETTERS = 5


def parse_reference(text: str, label: str | None = None, *, has_fields: bool = True) -> CitedWork:
    """The fields of a printed entry; what is not clear is left out, the text is always kept.

    Without a label one is looked for in the text; an empty one says that there is none. Without
    `has_fields` only identifiers are read.
    """
    printed = " ".join(text.split())
    body = printed
    if label is None and (found := _LABEL.match(printed)):
        label = (found["key"] or found["round"] or found["number"]).strip()
        body = printed[found.end() :]
    work = CitedWork(text=printed[:MAX_KEPT_CHARACTERS], label=label or None, confidence=0.0)
    stated = take_identifiers(body[:MAX_KEPT_CHARACTERS])
    work = replace(
        work,
        doi=stated.doi,
        arxiv_id=stated.arxiv_id,
        pmid=stated.pmid,
        isbn=stated.isbn,
        url=stated.url,
    )
    if len(body) > MAX_ENTRY_CHARACTERS or not has_fields:
        return work
    return _with_fields(work, stated.text)


def _with_fields(work: CitedWork, masked: str) -> CitedWork:
    tagged = tag_reference(masked)
    runs = {label: run for label in _FIELDS if (run := _best_run(tagged, label))}
    texts = {label: _run_text(masked, run) for label, run in runs.items()}
    sure = {label: min(each.margin for each in run) for label, run in runs.items()}
    shown = {
        label: text
        for label, text in texts.items()
        if text and sure[label] >= MIN_MARGINS.get(label, 0.0)
    }
    title = shown.get("title")
    if title is not None and sum(letter.isalpha() for letter in title) < _MIN_TITLE_LETTERS:
        title = None
    authors = split_printed_names(shown["author"]) if "author" in shown else ()
    return replace(
        work,
        title=title,
        authors=authors,
        year=_find_year(masked, shown.get("year")),
        container=shown.get("container"),
        volume=shown.get("volume"),
        issue=shown.get("issue"),
        pages=_find_pages(shown.get("pages")),
        publisher=shown.get("publisher"),
        confidence=_confidence(sure, title, authors),
    )


_FIELDS = ("author", "year", "title", "container", "volume", "issue", "pages", "publisher")
# A field whose weakest token beats its next best label by less is not shown: it is right about
# every second time. Then how often title, first author and year are right together, by the lesser
# margin of title and authors. Both counted by hand on 2,910 entries of 400 styles, seed 7, set
# `calibrate` of `benchmarks/reference_lists/generation.py`; `make judge-references` checks them.
MIN_MARGINS = {
    "title": 100.0,
    "author": 20.0,
    "container": 20.0,
    "volume": 20.0,
    "issue": 10.0,
    "publisher": 30.0,
}
_CONFIDENCES = ((0.0, 0.35), (20.0, 0.65), (100.0, 0.8), (170.0, 0.9), (220.0, 0.95))


def _confidence(sure: dict[str, float], title: str | None, authors: tuple[str, ...]) -> float:
    if title is None:
        return 0.0
    margin = min(sure["title"], sure.get("author", 0.0)) if authors else sure["title"] / 2
    return max((share for least, share in _CONFIDENCES if margin >= least), default=0.0)


def _best_run(tagged: list[TaggedToken], label: str) -> list[TaggedToken]:
    """The longest run of tokens with this label; of authors and years the first."""
    runs: list[list[TaggedToken]] = []
    for number, each in enumerate(tagged):
        if each.label != label:
            continue
        if runs and number and tagged[number - 1].label == label:
            runs[-1].append(each)
        else:
            runs.append([each])
    if not runs:
        return []
    return runs[0] if label in {"author", "year"} else max(runs, key=_length)


def _length(run: list[TaggedToken]) -> int:
    return run[-1].token.end - run[0].token.start


def _run_text(masked: str, run: list[TaggedToken]) -> str:
    text = masked[run[0].token.start : run[-1].token.end].replace(MASK, " ")
    if run[0].label == "author":
        return text.strip()
    text = " ".join(text.split())
    following = masked[run[-1].token.end : run[-1].token.end + 1]
    if following in _CLOSING and text.count(_CLOSING[following]) > text.count(following):
        text += following
    return _trim(text)


def _trim(text: str) -> str:
    """The text without marks at its ends; brackets go where their partner is missing."""
    while True:
        text = text.strip(_EDGE)
        if text[:1] in _CLOSING.values() and text.count(text[0]) > text.count(_PARTNER[text[0]]):
            text = text[1:]
        elif text[-1:] in _CLOSING and text.count(text[-1]) > text.count(_CLOSING[text[-1]]):
            text = text[:-1]
        else:
            return text


def _find_year(masked: str, shown: str | None) -> int | None:
    """The tagged year, else the only one that stands in the entry."""
    if shown and (found := _YEAR.search(shown)):
        return int(found.group(1))
    years = {int(each) for each in _YEAR.findall(masked)}
    return years.pop() if len(years) == 1 else None


def _find_pages(shown: str | None) -> str | None:
    found = _PAGES.search(shown) if shown else None
    if found is None:
        return None
    return re.sub(r"\s?[–—-]\s?", "-", found.group())
