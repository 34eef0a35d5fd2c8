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
_SPACED_WORD = re.compile(r"[^\s\u00a0]*[^\W\d_][^\s\u00a0]*")
_FIRST_LETTER = re.compile(r"[^\W\d_]")
_PUNCTUATION = "“”‘’'\"«»()[].,:;?!"
_TAG_OR_ENTITY = re.compile(r"<[^<>]*>|&\w+;")
_SENTENCE_BREAK = re.compile(r"(?:[:?!]|(?<![.])(?<!\bvs)(?<!\bcf)(?<!\bno)(?<!\bvol)[.])['’”\"»)\]]*[\s\u00a0]+['‘“\"«(\[]*(?:<[^<>]*>)*\Z")


def sentence_case(title: Rich) -> str:
    """The title as CSL wants it stored; one that is in sentence case already is left as it is."""
    if not _is_title_case(title.text, title.protected):
        return title.text
    return lowered(title.text, title.protected)


def _is_inside(start: int, end: int, spans: tuple[tuple[int, int], ...]) -> bool:
    return any(start < stop and begin < end for begin, stop in spans)


def _is_title_case(text: str, protected: tuple[tuple[int, int], ...]) -> bool:
    """Whether more words begin with a capital than do not, small words and protected ones aside."""
    capitals = smalls = 0
    for found in _SPACED_WORD.finditer(_TAG_OR_ENTITY.sub(lambda tag: "\x00" * len(tag.group()), text) if "<" in text else text):
        if protected and _is_inside(found.start(), found.end(), protected):
            continue
        word = found.group().strip(_PUNCTUATION + "\x00")
        letter = _FIRST_LETTER.search(word)
        if letter is None or word.lower() in _SMALL_WORDS:
            continue
        if letter.group().isupper():
            capitals += 1
        elif letter.group().islower():
            smalls += 1
    return capitals > smalls


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
