"""Title case to sentence case as BibTeX styles do it: braces and inner capitals are kept."""

import re

from carrel.libraries.bibliography.bibtex.proper_nouns import PROPER_NAMES, PROPER_NOUNS
from carrel.libraries.bibliography.bibtex.tex_reader import TexText

# Words that title case leaves small, which say nothing about the case of a title.
_SMALL_WORDS = frozenset({
    "a", "ab", "aboard", "about", "above", "across", "after", "against", "al", "along", "amid",
    "among", "an", "and", "anti", "around", "as", "at", "before", "behind", "below", "beneath",
    "beside", "besides", "between", "beyond", "but", "by", "d", "da", "das", "de", "del", "dell",
    "dello", "dei", "degli", "della", "delle", "dem", "den", "der", "des", "despite", "die", "do",
    "down", "du", "during", "ein", "eine", "einem", "einen", "einer", "eines", "el", "en", "et",
    "except", "for", "from", "gli", "i", "il", "in", "inside", "into", "is", "l", "la", "las", "le",
    "les", "like", "lo", "los", "near", "nor", "of", "off", "on", "onto", "or", "over", "past",
    "per", "plus", "round", "s", "save", "since", "so", "some", "sur", "t", "than", "the", "their",
    "through", "to", "toward", "towards", "un", "una", "unas", "under", "underneath", "une",
    "unlike", "uno", "unos", "until", "up", "upon", "versus", "via", "vs", "von", "while", "with",
    "within", "without", "yet", "y", "zu", "zum", "its",
})  # fmt: skip
_ENGLISH_WORDS = frozenset([
    "the", "of", "and", "for", "with", "on", "from", "to", "by", "an", "at", "is", "its", "are",
    "how", "why", "what", "using",
])  # fmt: skip
# Small words of languages that capitalise by other rules; German nouns must stay as they are.
_OTHER_WORDS = frozenset({
    "der", "die", "das", "und", "für", "aus", "im", "zur", "zum", "von", "vom", "des", "dem", "den",
    "ein", "eine", "einer", "eines", "mit", "auf", "bei", "über", "nach", "les", "le", "la", "une",
    "et", "pour", "dans", "sur", "aux", "du", "el", "los", "las", "del", "y", "para", "por", "con",
    "una", "il", "gli", "della", "delle", "nel", "di", "dos", "em", "het", "een", "van", "voor",
    "och", "av", "för", "og", "til", "som",
})  # fmt: skip
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SPACED_WORD = re.compile(r"[^\s\u00a0]+")
_FIRST_LETTER = re.compile(r"[^\W\d_]")
_PUNCTUATION = "“”‘’'\"«»()[].,:;?!"
# Bounded, so that an opening sign without an end does not make the search quadratic.
_TAG_OR_ENTITY = re.compile(r"<[^<>]{0,500}>|&\w{1,40};")
# A question in quotation marks does not end the title's sentence.
_SENTENCE_BREAK = re.compile(
    r"(?:[?!][)\]]*|(?::|(?<![.])(?<!\bvs)(?<!\bcf)(?<!\bno)(?<!\bvol)[.])['’”\"»)\]]*)[\s\u00a0]+"
    r"['‘“\"«(\[]*(?:<[^<>]*>)*\Z"
)
# Behind an article stands what it belongs to; `Vitamin A and B` has none.
_AFTER_ARTICLE = re.compile(
    r"\s+(?!(?:and|or|to|in|of|for|is|as|at|by|on|with|from|versus|vs)\b)[^\W\d_]"
)
# What stands right behind a raised number is one word with it: ³He.
_BEHIND_SCRIPT = re.compile(r"</su[bp]>\Z")
_BEHIND_COLON = re.compile(r":[\s\u00a0]+\Z")
_ROMAN_NUMBER = re.compile(r"^(?:I{1,3}|IV|VI{0,3}|IX|XI{0,3}|XIV|XVI{0,3}|XIX|XX)$")


def sentence_case(title: TexText) -> str:
    """The title as CSL wants it stored; one that is in sentence case already is left as it is.

    Words that are known proper nouns keep their capital.
    """
    if _is_of_another_language(_without_protected(title)):
        return title.text
    if _is_all_capitals(title):
        return _lower_capitals(title)
    if not _is_title_case(title.text, title.protected):
        return title.text
    return lower_title_words(title.text, title.protected)


def _without_protected(title: TexText) -> str:
    parts: list[str] = []
    last = 0
    for start, end in title.protected:
        parts.append(title.text[last:start])
        last = end
    return " ".join([*parts, title.text[last:]])


def _is_all_capitals(title: TexText) -> bool:
    """Whether a whole title is shouted: its small words too, so that it is no row of acronyms."""
    open_text = _TAG_OR_ENTITY.sub("", _without_protected(title))
    if not open_text.isupper():
        return False
    words = _WORD.findall(open_text)
    return len(words) > 2 and any(len(word) > 1 and word.lower() in _SMALL_WORDS for word in words)


def _lower_capitals(title: TexText) -> str:
    """A shouted title in sentence case; numbers in Roman letters and proper nouns are kept."""
    mask = _mask(title.text, title.protected)
    pieces: list[str] = []
    last = 0
    for found in _WORD.finditer(title.text):
        word, start = found.group(), found.start()
        is_initial = len(word) == 1 and title.text.startswith(".", found.end())
        if 1 in mask[start : found.end()] or _ROMAN_NUMBER.match(word) or is_initial:
            continue
        is_first = not last or _SENTENCE_BREAK.search(title.text, max(0, start - 60), start)
        pieces.append(title.text[last:start])
        pieces.append(word.capitalize() if is_first or _is_proper(word) else word.lower())
        last = found.end()
    pieces.append(title.text[last:])
    return "".join(pieces)


def _is_proper(word: str) -> bool:
    small = word.lower()
    for ending in ("'s", "’s"):
        small = small.removesuffix(ending)
    return small in PROPER_NOUNS


def _mask(text: str, protected: tuple[tuple[int, int], ...]) -> bytearray:
    """One byte for each character, 1 where case is not to be touched."""
    mask = bytearray(len(text))
    for start, end in protected:
        mask[start:end] = b"\x01" * (end - start)
    return mask


def _is_of_another_language(text: str) -> bool:
    words = {word.lower() for word in _WORD.findall(text)}
    return not words.isdisjoint(_OTHER_WORDS) and words.isdisjoint(_ENGLISH_WORDS)


def _is_title_case(text: str, protected: tuple[tuple[int, int], ...]) -> bool:
    """Whether more words begin with a capital than do not, small words and protected ones aside."""
    capitals = smalls = 0
    mask = _mask(text, protected) if protected else bytearray()
    if mask:
        for tag in _TAG_OR_ENTITY.finditer(text):
            mask[tag.start() : tag.end()] = bytes(tag.end() - tag.start())
    hidden = (
        _TAG_OR_ENTITY.sub(lambda tag: "\x00" * len(tag.group()), text) if "<" in text else text
    )
    for found in _SPACED_WORD.finditer(hidden):
        if mask and 1 in mask[found.start() : found.end()]:
            continue
        word = found.group().strip(_PUNCTUATION + "\x00")
        letter = _FIRST_LETTER.search(word)
        if letter is None or word.lower() in _SMALL_WORDS:
            continue
        if letter.group().isupper():
            capitals += 1
        elif letter.group().islower() and word.islower():
            # Words such as pH-Dependent and mTOR say nothing.
            smalls += 1
    return capitals > smalls


def lower_title_words(text: str, protected: tuple[tuple[int, int], ...]) -> str:
    """The text with capitalised words in lower case, except at the start of a sentence."""
    mask = _mask(text, protected)
    for tag in (*_TAG_OR_ENTITY.finditer(text), *PROPER_NAMES.finditer(text)):
        mask[tag.start() : tag.end()] = b"\x01" * (tag.end() - tag.start())
    pieces: list[str] = []
    last = 0
    is_first = True
    for found in _WORD.finditer(text):
        start, end = found.start(), found.end()
        if 1 in mask[start:end]:
            is_first = is_first and text[start - 1 : start] in {"<", "/"}
            continue
        word = found.group()
        if is_first:
            is_first = False
            continue
        if _keeps_case(text, found):
            continue
        pieces.append(text[last:start])
        pieces.append(word[0].lower() + word[1:])
        last = end
    pieces.append(text[last:])
    return "".join(pieces)


def _keeps_case(text: str, found: re.Match[str]) -> bool:
    """Whether a word inside of a title has its capital for another reason than title case."""
    word, start = found.group(), found.start()
    if _BEHIND_SCRIPT.search(text, max(0, start - 6), start):
        return True
    if word == "A":
        if _BEHIND_COLON.search(text, max(0, start - 60), start):
            return False
        is_ordinary = bool(_AFTER_ARTICLE.match(text, found.end()))
    else:
        is_ordinary = len(word) > 1 and word[0].isupper() and word[1:].islower()
    return (
        not is_ordinary
        or _is_proper(word)
        or bool(_SENTENCE_BREAK.search(text, max(0, start - 60), start))
    )
