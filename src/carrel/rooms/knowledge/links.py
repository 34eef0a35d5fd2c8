"""Links in notes: to other notes, papers, references, passages and hypotheses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from carrel.libraries.identifiers import ArxivId, Doi, NotAnIdentifierError, without_resolver
from carrel.libraries.text.folding import fold_text

LinkKind = Literal["note", "paper", "doi", "arxiv", "ref", "passage", "hypothesis"]

# The most different things that one note points at and is found by.
MAX_LINK_TARGETS = 500

_FENCE = re.compile(r"^(`{3,}+|~{3,}+).*?^\1[^\n]*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_WIKI_LINK = re.compile(r"\[\[([^\[\]\n|#^]+)(?:[#^][^\[\]\n|]*)?(?:\|[^\[\]\n]*)?\]\]")
_NAMED = re.compile(
    r"(paper|ref|reference|passage|hypothesis|note|doi|arxiv):(?://)?(.+)", re.IGNORECASE
)
_PASSAGE_ID = re.compile(r"([^~\s]+)~[0-9a-f]{10}(?:\.\d{1,6})?")
# Punctuation and Markdown that end a sentence or close a mark, and no identifier. A closing round
# bracket is the identifier's own where it opened one, which Doi settles.
_AFTER_IDENTIFIER = ".,;:!?*_~…’›"
# [[note:ID]] names a note by its id, any other link by its title.
_BY_ID = "note:"
_IN_TEXT = re.compile(
    r"(?P<doi>(?<![A-Za-z0-9.])10\.\d{4,9}/[^\s\"'<>\]|{}“”«»、。，；：！？（）「」『』【】]{1,200})"
    r"|\barxiv(?:\.org/(?:abs|pdf)/|:\s?)(?P<arxiv>[a-z.-]{0,20}/?\d{4}[\d.]{3,6}(?:v\d{1,3})?)"
    r"|\b(?P<kind>paper|hypothesis)://(?P<id>[\w.:-]{1,200})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """What a link points at; `written` is the target as it stands in the note."""

    written: str
    kind: LinkKind
    key: str

    @property
    def terms(self) -> tuple[str, ...]:
        """The names under which whoever is pointed at finds the note."""
        match self.kind:
            case "note":
                names = dict.fromkeys((self.key, self.key.rpartition("/")[2]))
                by_id = (self.key,) if self.key.startswith(_BY_ID) else ()
                return (*by_id, *(f"title:{fold_text(name)}" for name in names))
            case "passage":
                document = self.key.partition("~")[0]
                return (f"passage:{self.key}", f"paper:{document}", f"note:{document}")
            case "doi":
                arxiv = Doi(self.key).arxiv
                own = (f"doi:{self.key}",)
                return own if arxiv is None else (*own, f"arxiv:{arxiv.value}")
            case _:
                return (f"{self.kind}:{self.key}",)


def find_links(content: str) -> list[LinkTarget]:
    """What a note points at, each thing once and in order; links inside code are ignored."""
    text = _FENCE.sub(" ", content)
    found: dict[tuple[str, str], LinkTarget] = {}
    places = [(match.start(), target) for match, target in _wiki_links(text)]
    places += [(match.start(), target) for match, target in _links_in_text(text)]
    for _, target in sorted(places, key=lambda place: place[0]):
        found.setdefault((target.kind, target.key), target)
        if len(found) >= MAX_LINK_TARGETS:
            break
    return list(found.values())


def replace_links(content: str, show: Callable[[LinkTarget, str], str]) -> str:
    """The content with each [[link]] as `show` writes it, given what it shows; code stays."""
    pieces: list[str] = []
    place = 0
    for code in [*_FENCE.finditer(content), None]:
        end = len(content) if code is None else code.start()
        pieces.append(_replace_in_text(content[place:end], show))
        if code is not None:
            pieces.append(code[0])
            place = code.end()
    return "".join(pieces)


def _replace_in_text(text: str, show: Callable[[LinkTarget, str], str]) -> str:
    pieces: list[str] = []
    place = 0
    for match, target in _wiki_links(text):
        _, bar, label = match[0].removeprefix("[[").removesuffix("]]").partition("|")
        pieces += [text[place : match.start()], show(target, label.strip() if bar else "")]
        place = match.end()
    return "".join((*pieces, text[place:]))


def link_targets(content: str) -> list[str]:
    """The distinct targets of a note's [[links]] in order; links inside code are ignored."""
    text = _FENCE.sub(" ", content)
    return list(dict.fromkeys(target.written for _, target in _wiki_links(text)))


def link_term(target: str) -> str:
    """A target of `NotesAbout.find` as notes are indexed by it."""
    kind, _, key = target.partition(":")
    match kind:
        case "doi" | "arxiv":
            named = _named_target(target, kind, key)
            return target if named is None else f"{named.kind}:{named.key}"
        case _:
            return target


def _wiki_links(text: str) -> Iterator[tuple[re.Match[str], LinkTarget]]:
    for match in _WIKI_LINK.finditer(text):
        written = match[1].strip().removesuffix(".md")
        if written:
            yield match, _wiki_target(written)


def _wiki_target(written: str) -> LinkTarget:
    named = _NAMED.fullmatch(written)
    if named is not None:
        target = _named_target(written, named[1].casefold(), named[2].strip())
        if target is not None:
            return target
    if _PASSAGE_ID.fullmatch(written):
        return LinkTarget(written, "passage", written)
    return _named_target(written, "doi", written) or LinkTarget(written, "note", written)


def _named_target(written: str, kind: str, key: str) -> LinkTarget | None:
    """The target of `kind:key`; None where the key is no such thing."""
    match kind:
        case "doi":
            try:
                return LinkTarget(written, "doi", Doi.parse(key).value)
            except NotAnIdentifierError:
                return None
        case "arxiv":
            try:
                return LinkTarget(written, "arxiv", ArxivId.parse(key).value)
            except NotAnIdentifierError:
                return None
        case "paper":
            by_doi = _named_target(written, "doi", key) or _named_target(written, "arxiv", key)
            return by_doi or LinkTarget(written, "paper", key)
        case "ref" | "reference":
            return LinkTarget(written, "ref", key)
        case "passage":
            return LinkTarget(written, "passage", key) if _PASSAGE_ID.fullmatch(key) else None
        case "hypothesis":
            return LinkTarget(written, "hypothesis", key)
        case _:
            return LinkTarget(written, "note", f"{_BY_ID}{key}")


def _cut_prose(key: str) -> str:
    """An identifier without what the sentence around it put at its end: "see 10.1000/182.*"."""
    while key:
        without = without_resolver(key.rstrip(_AFTER_IDENTIFIER))
        if without == key:
            break
        key = without
    return key


def _links_in_text(text: str) -> Iterator[tuple[re.Match[str], LinkTarget]]:
    for match in _IN_TEXT.finditer(text):
        kind = "doi" if match["doi"] else "arxiv" if match["arxiv"] else match["kind"].casefold()
        key = match["doi"] or match["arxiv"] or match["id"]
        key = _cut_prose(key)
        target = _named_target(key if kind in {"doi", "arxiv"} else f"{kind}:{key}", kind, key)
        if target is not None:
            yield match, target
