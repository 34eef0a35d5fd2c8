"""Where two pieces meet: no doubled spaces or stops, and stops on the right side of a closing
quotation mark.
"""

from .tokens import FORMATTING, GLUE, Token, Tokens

# left sign -> right sign -> what both together become
MEETING = {
    ".": {".": ".", "!": ".!", "?": ".?", ":": ".:", ",": ".,", ";": ".;"},
    ",": {",": ",", "!": ",!", "?": ",?", ":": ",:", ".": ",.", ";": ",;"},
    ":": {":": ":", "!": "!", "?": "?", ".": ":", ",": ":,", ";": ":;"},
    ";": {";": ";", "!": "!", "?": "?", ":": ";", ".": ";", ",": ";,"},
    "!": {"!": "!", ".": "!", "?": "!?", ":": "!", ",": "!,", ";": "!;"},
    "?": {"?": "?", "!": "?!", ".": "?", ":": "?", ",": "?,", ";": "?;"},
}
_moves_in = frozenset(".,!?")
_moves_out = frozenset(":;,")
_fonts = frozenset(FORMATTING)


def settle(tokens: Tokens, in_quote: bool) -> Tokens:
    """The same tokens with their punctuation settled at every seam."""
    out: Tokens = []
    last = -1  # place of the last text in `out`
    quote_end = -1  # place of the first quotation mark closed since
    font_end = False  # whether a font ended since
    moved = False  # whether the last sign was moved inside the quotation marks
    for token in tokens:
        if token.__class__ is not str:
            kind = token.kind  # type: ignore[union-attr]
            if kind == "quotes":
                if token.is_open:  # type: ignore[union-attr]
                    quote_end = -1
                elif last >= 0 and quote_end < 0:
                    quote_end = len(out)
            elif token is GLUE or (kind == "display" and token.is_open):  # type: ignore[union-attr]
                last = quote_end = -1
            elif kind in _fonts:
                font_end = True
            out.append(token)
            continue
        text: str = token
        if not text:
            continue
        if last >= 0:
            first = text[0]
            before: str = out[last]  # type: ignore[assignment]
            end = before[-1]
            if first == " ":
                if end in {" ", "\u00a0"}:
                    text = text.lstrip(" ")
            elif first in MEETING:
                if quote_end >= 0:
                    length, places = len(before), len(out)
                    if moved and end in MEETING and MEETING[end][first] == end:
                        text = text[1:]
                    else:
                        text = _meet_quote(out, last, text, in_quote)
                    moved = len(out) > places or len(out[last]) > length  # type: ignore[arg-type]
                    if len(out) > places:
                        last, quote_end = _last_text(out), quote_end + 1
                elif end in MEETING:
                    both = MEETING[end][first]
                    if font_end:
                        text = text[1:] if end == first else text
                    elif (
                        in_quote
                        and both[0] != end
                        and len(before) == 1
                        and last
                        and _closes_quote(out[last - 1])
                    ):
                        # The sign that stood outside gives way to one that belongs inside.
                        out.pop(last)
                        last = _last_text(out)
                        text = _meet_quote(out, last, both + text[1:], in_quote)
                    else:
                        out[last] = before[:-1] + both[0]
                        text = both[1:] + text[1:]
            if not text:
                continue
        last = len(out)
        quote_end = -1
        font_end = moved = False
        out.append(text)
    return out


def _meet_quote(out: Tokens, last: int, text: str, in_quote: bool) -> str:
    """Sorts the sign before and the sign after a closing quote; returns what is left to stand
    outside.
    """
    before: str = out[last]  # type: ignore[assignment]
    end, first = before[-1], text[0]
    rest = text[1:]
    if end not in MEETING:
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
        return MEETING[end][first] + rest
    if end == first:
        return rest
    if not in_quote:
        return text
    if first in _moves_in:
        out[last] = before[:-1] + MEETING[end][first]
        return rest
    return text


def _closes_quote(token: Token) -> bool:
    return token.__class__ is not str and token.kind == "quotes" and not token.is_open  # type: ignore[union-attr]


def _last_text(out: Tokens) -> int:
    for place in range(len(out) - 1, -1, -1):
        if out[place].__class__ is str and out[place]:
            return place
    return -1
