"""Where two pieces meet: no doubled spaces or stops, and stops on the right side of a closing quotation mark."""

from .tokens import GLUE, Token, Tokens

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


def settle(tokens: Tokens, in_quote: bool) -> Tokens:
    """The same tokens with their punctuation settled at every seam."""
    out: Tokens = []
    last = -1  # place of the last text in `out`
    quote_end = -1  # place of the first quotation mark closed since
    for token in tokens:
        if token.__class__ is not str:
            if token is GLUE:
                last = -1
            elif last >= 0 and quote_end < 0 and token.kind == "quotes" and not token.is_open:  # type: ignore[union-attr]
                quote_end = len(out)
            elif token.kind == "quotes" and token.is_open:  # type: ignore[union-attr]
                quote_end = -1
            elif token.kind == "display":  # type: ignore[union-attr]
                last, quote_end = (-1, -1) if token.is_open else (last, quote_end)  # type: ignore[union-attr]
            out.append(token)
            continue
        text: str = token  # type: ignore[assignment]
        if not text:
            continue
        if last >= 0:
            first = text[0]
            before: str = out[last]  # type: ignore[assignment]
            end = before[-1]
            if first == " ":
                if end == " " or end == "\u00a0":
                    text = text.lstrip(" ")
                    if not text:
                        continue
            elif first in MEETING:
                if quote_end >= 0:
                    text = _meet_quote(out, last, quote_end, text, in_quote)
                    if not text:
                        last = _last_text(out)
                        quote_end = _quote_after(out, last)
                        continue
                elif end in MEETING:
                    both = MEETING[end][first]
                    if both[0] != end:
                        if in_quote and len(before) == 1 and last and _closes_quote(out[last - 1]):
                            # The sign that stood outside gives way to one that belongs inside.
                            out.pop(last)
                            last = _last_text(out)
                            text = _meet_quote(out, last, _quote_after(out, last), both + text[1:], in_quote)
                            last = len(out)
                            out.append(text)
                            continue
                        out[last] = before[:-1] + both[0]
                    text = both[1:] + text[1:]
                    if not text:
                        continue
                    if text[0] == " " and out[last][-1:] == " ":  # type: ignore[index]
                        text = text[1:]
        last = len(out)
        quote_end = -1
        out.append(text)
    return out


def _meet_quote(out: Tokens, last: int, quote_end: int, text: str, in_quote: bool) -> str:
    """Sorts the sign before and the sign after a closing quote; returns what is left to stand outside."""
    before: str = out[last]  # type: ignore[assignment]
    end, first = before[-1], text[0]
    both = MEETING[end][first] if end in MEETING else first
    had = end in MEETING
    inside = 0
    if in_quote:
        while inside < len(both) and both[inside] in _moves_in:
            inside += 1
    elif had and both[0] == end and end not in _moves_out:
        inside = 1
    kept, outside = both[:inside], both[inside:]
    if had:
        before = before[:-1]
    if last == quote_end - 1 or not kept:
        out[last] = before + kept
    elif had and kept[0] == end:
        out[last] = before + end
        if kept[1:]:
            out.insert(quote_end, kept[1:])
    else:
        out[last] = before
        out.insert(quote_end, kept)
    return outside + text[1:]


def _closes_quote(token: Token) -> bool:
    return token.__class__ is not str and token.kind == "quotes" and not token.is_open  # type: ignore[union-attr]


def _last_text(out: Tokens) -> int:
    for place in range(len(out) - 1, -1, -1):
        if out[place].__class__ is str and out[place]:
            return place
    return -1


def _quote_after(out: Tokens, last: int) -> int:
    for place in range(max(last, 0), len(out)):
        token = out[place]
        if token.__class__ is not str and token.kind == "quotes" and not token.is_open:  # type: ignore[union-attr]
            return place
    return -1
