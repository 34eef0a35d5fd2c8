"""Title case to sentence case, as BibTeX styles and other importers do it: what braces protect stays, and so do names with inner capitals."""

import re

from carrel.engines.bibliography.bibtex.tex import Rich

# Words that title case leaves small, so that finding them small does not show a title to be in sentence case already.
_SMALL_WORDS = frozenset(
    "a ab aboard about above across after against al along amid among an and anti around as at before behind below beneath beside besides "
    "between beyond but by d da das de del dell dello dei degli della delle dem den der des despite die do down du during ein eine einem "
    "einen einer eines el en et except for from gli i il in inside into is l la las le les like lo los near nor of off on onto or over past "
    "per plus round s save since so some sur t than the their through to toward towards un una unas under underneath une unlike uno unos "
    "until up upon versus via vs von while with within without yet y zu zum its".split()
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LOWER_WORD = re.compile(r"(?<![^\W_])(?<![^\W_]['’])[^\W\d_A-Z][^\W_]*")
_TAG_OR_ENTITY = re.compile(r"<[^<>]*>|&\w+;")
_SENTENCE_BREAK = re.compile(r"[.:?!]['’”\"»)\]]*[\s\u00a0]+['‘“\"«(\[]*(?:<[^<>]*>)*\Z")


def sentence_case(title: Rich) -> str:
    """The title as CSL wants it stored; one that is in sentence case already is left as it is."""
    text = title.text
    if not _is_title_case(text, title.protected):
        return text
    return lowered(text, title.protected)


def _is_inside(start: int, end: int, spans: tuple[tuple[int, int], ...]) -> bool:
    return any(start < stop and begin < end for begin, stop in spans)


def _is_title_case(text: str, protected: tuple[tuple[int, int], ...]) -> bool:
    """Whether nothing but small words is small."""
    for found in _LOWER_WORD.finditer(text):
        word = found.group()
        if not word[0].islower() or word in _SMALL_WORDS:
            continue
        if text[found.start() - 1 : found.start()] in {"-", "‐", "–", "<", "/", "&", "'", "’"}:
            continue
        if not _is_inside(found.start(), found.end(), protected):
            return False
    return True


def lowered(text: str, protected: tuple[tuple[int, int], ...]) -> str:
    blocked = protected + tuple((found.start(), found.end()) for found in _TAG_OR_ENTITY.finditer(text)) if "<" in text or "&" in text else protected
    pieces: list[str] = []
    last = 0
    is_first = True
    for found in _WORD.finditer(text):
        start, end = found.start(), found.end()
        if blocked and _is_inside(start, end, blocked):
            is_first = is_first and text[start - 1 : start] in {"<", "/"}
            continue
        word = found.group()
        if is_first:
            is_first = False
            continue
        if word == "A":
            small = "a"
        elif len(word) > 1 and word[0].isupper() and word[1:].islower() and not _SENTENCE_BREAK.search(text, max(0, start - 60), start):
            small = word[0].lower() + word[1:]
        else:
            continue
        pieces.append(text[last:start])
        pieces.append(small)
        last = end
    pieces.append(text[last:])
    return "".join(pieces)
