"""Repairs what PDFium reports for characters of old fonts: dingbats, ligatures, accents, halves."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

# Adobe's list of ZapfDingbats names, a1 to a206. Glyphs of TeX's bitmap fonts are named `aNNN` for
# their code NNN, and PDFium takes these for the names of dingbats.
_DINGBATS = (
    "✁✂✄☎✆✝✞✟✠✡☛☞✌✍✎✏✑✒✓✔✕✖✗✘✙✚✛✜✢✣✤✥✦✧★✩✪✫✬✭✮✯✰✱✲✳✴✵✶✷✸✹"
    "✺✻✼✽✾✿❀❁❂❃❄❅❆❇❈❉❊❋●❍■❏❑▲▼◆❖ ◗❘❙❚❯❱❲❳❨❩❬❭❪❫❴❵❛❜❝❞❡❢❣❤"
    "✐❥❦❧♠♥♦♣    ✉✈✇①②③④⑤⑥⑦⑧⑨⑩❶❷❸❹❺❻❼❽❾❿➀➁➂➃➄➅➆➇➈➉➊➋➌➍➎➏➐"
    "➑➒➓➔→➣↔↕➙➛➜➝➞➟➠➡➢➤➥➦➧➨➩➫➭➯➲➳➵➸➺➻➼➽➾➚➪➶➹➘➴➷➬➮➱✃❐❒❮❰"
)
_CODE_OF_DINGBAT = {
    character: code for code, character in enumerate(_DINGBATS, start=1) if character != " "
}
# Control codes of TeX's two text encodings. A font is of the second where it uses codes 1B to 1F.
_OT1 = {0x0B: "ff", 0x0C: "fi", 0x0D: "fl", 0x0E: "ffi", 0x0F: "ffl", 0x10: "ı", 0x11: "ȷ"}
_OT1_SIGNS = {0x19: "ß", 0x1A: "æ", 0x1B: "œ", 0x1C: "ø", 0x1D: "Æ", 0x1E: "Œ", 0x1F: "Ø"}
_T1 = {0x1B: "ff", 0x1C: "fi", 0x1D: "fl", 0x1E: "ffi", 0x1F: "ffl", 0x15: "–", 0x16: "—"}
_T1_SIGNS = {0x10: "“", 0x11: "”", 0x12: "„", 0x13: "«", 0x14: "»", 0x19: "ı", 0x0D: "‚"}
_ONLY_T1 = frozenset({0x12, 0x13, 0x14, 0x15, 0x16, 0x1B, 0x1C, 0x1D, 0x1E, 0x1F})
_ONLY_OT1 = frozenset({0x0B, 0x0C, 0x0E, 0x0F})

_LIGATURES = {
    "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st",
    "\uf0b7": "•", "\uf0a7": "▪", "\uf02d": "−",
}  # fmt: skip
_COMBINING = {
    "¨": "\u0308", "´": "\u0301", "`": "\u0300", "^": "\u0302", "ˆ": "\u0302", "˜": "\u0303",
    "~": "\u0303", "¯": "\u0304", "˘": "\u0306", "ˇ": "\u030c", "˚": "\u030a", "¸": "\u0327",
    "˝": "\u030b", "˙": "\u0307", "˛": "\u0328",
}  # fmt: skip
ASCII_ACCENTS = frozenset(map(ord, "`^~"))
SPACING_ACCENTS = frozenset(map(ord, _COMBINING)) - ASCII_ACCENTS
# How far from its letter an accent may be written, in characters of the page's text.
_FARTHEST_ACCENT = 150
_MOST_ACCENTS = 5_000
# An accent belongs to a letter that it overlaps by at least this share of the narrower of both;
# neighbours in print overlap by next to nothing.
_LEAST_OVERLAP = 0.5


@dataclass(frozen=True, slots=True)
class GlyphStyle:
    """Font and size of characters. Fonts without a name are TeX's bitmaps (Type 3)."""

    font: str
    size: float
    is_bold: bool = False
    is_italic: bool = False
    is_monospaced: bool = False
    angle: int = 0


@dataclass(slots=True)
class Glyph:
    """One character or a run of them as drawn, at a place on the page as seen.

    `text` is empty once it was joined to another. `is_break_hyphen` marks a hyphen that
    PDFium took for one of line breaking.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    baseline: float
    style: GlyphStyle
    is_break_hyphen: bool = False


def decode_nameless_fonts(codes: Sequence[int], fonts: Sequence[int]) -> list[str]:
    """The text of characters of fonts without names; `fonts` says which font each is of.

    Dingbats are turned back to the codes they stand for, and control codes to ligatures and signs
    of the TeX encoding that each font uses.
    """
    plain = [_CODE_OF_DINGBAT.get(chr(code), code) for code in codes]
    used: dict[int, set[int]] = {}
    for code, font in zip(plain, fonts, strict=True):
        if code < 0x20:
            used.setdefault(font, set()).add(code)
    every = set[int]().union(*used.values())
    tables: dict[int, dict[int, str]] = {}
    for font, own in used.items():
        is_t1 = _is_t1(own) if own & (_ONLY_T1 | _ONLY_OT1) else _is_t1(every)
        tables[font] = {**_T1, **_T1_SIGNS} if is_t1 else {**_OT1_SIGNS, **_OT1}
    return [
        tables[font].get(code, "") if code < 0x20 else chr(code)
        for code, font in zip(plain, fonts, strict=True)
    ]


def _is_t1(codes: set[int]) -> bool:
    return bool(codes & _ONLY_T1) and not codes & _ONLY_OT1


def expand_ligature(character: str) -> str:
    """The letters of a ligature sign; any other character as it is."""
    return _LIGATURES.get(character, character)


def place_accents(glyphs: Sequence[Glyph]) -> None:
    """Put accents that are characters of their own on the letters that they are drawn over."""
    placed = 0
    for at, glyph in enumerate(glyphs):
        combining = _COMBINING.get(glyph.text)
        if combining is None:
            continue
        placed += 1
        if placed > _MOST_ACCENTS:
            return
        found = _letter_under(glyphs, at)
        if found is not None:
            base = {"ı": "i", "ȷ": "j"}.get(found.text, found.text)
            found.text = unicodedata.normalize("NFC", base + combining)
            glyph.text = ""


def _letter_under(glyphs: Sequence[Glyph], at: int) -> Glyph | None:
    """The letter that an accent overlaps, nearest in the text first."""
    accent = glyphs[at]
    for distance in range(1, _FARTHEST_ACCENT):
        for other in (at - distance, at + distance):
            if 0 <= other < len(glyphs) and _is_under(glyphs[other], accent):
                return glyphs[other]
    return None


def _is_under(letter: Glyph, accent: Glyph) -> bool:
    if not letter.text.isalpha() or letter.text in _COMBINING:
        return False
    if abs(letter.baseline - accent.baseline) > letter.style.size * 0.6:
        return False
    shared = min(letter.x1, accent.x1) - max(letter.x0, accent.x0)
    narrower = min(letter.x1 - letter.x0, accent.x1 - accent.x0)
    return narrower > 0 and shared >= narrower * _LEAST_OVERLAP


def pair_halves(glyphs: Sequence[Glyph]) -> None:
    """Join the two UTF-16 units of characters beyond U+FFFF; a half alone becomes U+FFFD."""
    for at, glyph in enumerate(glyphs):
        if not "\ud800" <= glyph.text[:1] <= "\udfff":
            continue
        following = glyphs[at + 1] if at + 1 < len(glyphs) else replace(glyph, text="")
        if glyph.text < "\udc00" and "\udc00" <= following.text[:1] <= "\udfff":
            units = (glyph.text + following.text).encode("utf-16-le", "surrogatepass")
            glyph.text, following.text = units.decode("utf-16-le"), ""
        else:
            glyph.text = "\ufffd"
