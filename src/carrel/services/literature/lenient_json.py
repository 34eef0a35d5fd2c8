"""JSON as services send it, with what no answer of ours can hold taken out."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any

# Half of a surrogate pair, escaped; a whole pair costs no more than a needless look.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def decode_json(body: bytes) -> Any:
    """The value; numbers without a size are absent, halves of surrogate pairs are replaced.

    Raises ValueError or RecursionError where it is not JSON.
    """
    text = body.decode(json.detect_encoding(body), "replace")
    found = json.loads(text, parse_constant=_absent, parse_float=_finite)
    return _whole(found) if _SURROGATE.search(text) else found


def _absent(_: str) -> None:
    return None


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if isfinite(number) else None


def _whole(value: Any) -> Any:
    match value:
        case str():
            # The pairs were joined by the parser: what is left are halves.
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case list():
            return [_whole(each) for each in value]
        case dict():
            return {_whole(name): _whole(each) for name, each in value.items()}
        case _:
            return value
