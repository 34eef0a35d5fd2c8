"""Punctuation where two pieces meet: no doubles, and stops on the right side of quotes."""

from .tokens import DELIMITER, FONT_END, GLUE, GROUP_END, Mark, Token, Tokens, mark

# left sign -> right sign -> what both together become
SIGN_PAIRS = {
    ".": {".": ".", "!": ".!", "?": ".?", ":": ".:", ",": ".,", ";": ".;"},
    ",": {",": ",", "!": ",!", "?": ",?", ":": ",:", ".": ",.", ";": ",;"},
    ":": {":": ":", "!": "!", "?": "?", ".": ":", ",": ":,", ";": ":;"},
    ";": {";": ";", "!": "!", "?": "?", ":": ";", ".": ";", ",": ";,"},
    "!": {"!": "!", ".": "!", "?": "!?", ":": "!", ",": "!,", ";": "!;"},
    "?": {"?": "?", "!": "?!", ".": "?", ":": "?", ",": "?,", ";": "?;"},
}
_moves_in = frozenset(".,!?")
_moves_out = frozenset(":;,")
_spaces = frozenset(" \u00a0")
_PLAIN_SEAM = mark("part", "seam")
# A full stop gave way to the sign before it.
_SWALLOWED = mark("part", "swallowed")


_seams = frozenset({DELIMITER, FONT_END, GROUP_END})


def resolve_punctuation(tokens: Tokens, in_quote: bool) -> Tokens:
    """The same tokens with their punctuation settled at every seam."""
    out: Tokens = []
    last = -1  # place of the last text in `out`
    quote_end = -1  # place of the first quotation mark closed since
    seam = _PLAIN_SEAM  # what kind of edge lies between the last text and the next
    moved = False  # whether the last sign was moved inside the quotation marks
    for token in tokens:
        if token.__class__ is not str:
            if token in _seams:
                seam = token if token is FONT_END or seam is _PLAIN_SEAM else seam
                continue
            last, quote_end = _pass_mark(token, last, quote_end, len(out))  # type: ignore[arg-type]
            out.append(token)
            continue
        text: str = token
        if not text:
            continue
        if last >= 0:
            first = text[0]
            if first == " ":
                if out[last][-1] in _spaces:  # type: ignore[index]
                    text = text.lstrip(" ")
            elif first in SIGN_PAIRS:
                if quote_end >= 0:
                    length, places = len(out[last]), len(out)  # type: ignore[arg-type]
                    text = _resolve_after_quote(out, last, text, in_quote, moved, seam)
                    moved = len(out) > places or len(out[last]) > length  # type: ignore[arg-type]
                    if len(out) > places:
                        last, quote_end = _last_text(out), quote_end + 1
                else:
                    last, text = _resolve_signs(out, last, text, in_quote, seam)
            if not text:
                seam = _SWALLOWED if first == "." else _PLAIN_SEAM
                continue
        last = len(out)
        quote_end = -1
        seam, moved = _PLAIN_SEAM, False
        out.append(text)
    return out


def _pass_mark(mark: Mark, last: int, quote_end: int, place: int) -> tuple[int, int]:
    """Where the last text and the end of a quotation are after a mark that is no font."""
    if mark.kind == "quotes":
        if mark.is_open:
            return last, -1
        return last, place if last >= 0 and quote_end < 0 else quote_end
    if mark is GLUE or (mark.kind == "display" and mark.is_open):
        return -1, -1
    return last, quote_end


def _resolve_after_quote(
    out: Tokens, last: int, text: str, in_quote: bool, moved: bool, seam: Mark
) -> str:
    """A sign behind a closing quote: one that repeats a sign moved inside before is dropped."""
    end = out[last][-1]  # type: ignore[index]
    if seam is not FONT_END and end in "!?" and text[0] in ".:":
        return text[1:]
    if moved and end in SIGN_PAIRS and SIGN_PAIRS[end][text[0]] == end:
        return text[1:]
    return _resolve_at_quote(out, last, text, in_quote)


def _resolve_signs(
    out: Tokens, last: int, text: str, in_quote: bool, seam: Mark
) -> tuple[int, str]:
    """A sign behind another: returns the place of the last text and what is left of the new one."""
    before: str = out[last]  # type: ignore[assignment]
    end, first = before[-1], text[0]
    if _ends_block(out[-1]):
        # A sign that would open a line closes the block before it.
        out.insert(len(out) - 1, first)
        return last, text[1:]
    if end not in SIGN_PAIRS:
        return last, text
    if _stays(seam, end, first) or (first == "." and end in ":;" and _is_affix(out, last)):
        return last, text
    both = SIGN_PAIRS[end][first]
    is_alone = len(before) == 1 and last > 0 and _closes_quote(out[last - 1])
    if in_quote and both[0] != end and is_alone:
        # The sign that stood outside gives way to one that belongs inside.
        out.pop(last)
        last = _last_text(out)
        return last, _resolve_at_quote(out, last, both + text[1:], in_quote)
    out[last] = before[:-1] + both[0]
    return last, both[1:] + text[1:]


def _ends_block(token: Token) -> bool:
    """Whether a block of its own ends here."""
    return token.__class__ is not str and token.kind == "display" and not token.is_open  # type: ignore[union-attr]


def _is_affix(out: Tokens, last: int) -> bool:
    """Whether the last text is an affix such as `):`, or the sign of a number: it stays so."""
    before: str = out[last]  # type: ignore[assignment]
    if len(before) > 1:
        return not any(sign.isalnum() for sign in before)
    previous = _last_text(out[:last])
    return previous >= 0 and out[previous][-1].isdigit()  # type: ignore[index]


def _stays(seam: Mark, end: str, first: str) -> bool:
    """Whether both signs are kept at this seam, although one of them could give way."""
    if seam is _PLAIN_SEAM:
        return False
    if seam is DELIMITER:
        return end in ":;" and end != first
    if seam is GROUP_END:
        return False
    return end != first and (seam is FONT_END or (first == ":" and end in "!?"))


def _resolve_at_quote(out: Tokens, last: int, text: str, in_quote: bool) -> str:
    """Resolve the signs before and after a closing quote; returns what stays outside."""
    before: str = out[last]  # type: ignore[assignment]
    end, first = before[-1], text[0]
    rest = text[1:]
    if end not in SIGN_PAIRS:
        if in_quote and first in _moves_in:
            after = last + 1
            while after < len(out) and out[after].flips:  # type: ignore[union-attr]
                after += 1
            if after > last + 1:
                out.insert(after, first)  # a word in italics does not take the comma with it
            else:
                out[last] = before + first
            return rest
        return text
    if not in_quote and end in _moves_out:
        out[last] = before[:-1]
        return SIGN_PAIRS[end][first] + rest
    if end == first:
        return rest
    if not in_quote:
        return text
    if first in _moves_in:
        out[last] = before[:-1] + SIGN_PAIRS[end][first]
        return rest
    return text


def _closes_quote(token: Token) -> bool:
    return token.__class__ is not str and token.kind == "quotes" and not token.is_open  # type: ignore[union-attr]


def _last_text(out: Tokens) -> int:
    for place in range(len(out) - 1, -1, -1):
        if out[place].__class__ is str and out[place]:
            return place
    return -1
