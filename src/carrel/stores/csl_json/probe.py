"""A look at both ends of a library file: enough to see that it is there, readable and whole, at any
size.
"""

from __future__ import annotations

import os
from pathlib import Path

_END_BYTES = 4096
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def library_problem(path: Path) -> str | None:
    """Why the library cannot be used, as far as its ends show; None where it can, or is not there
    yet.
    """
    if path.is_dir():
        return "is a folder"
    try:
        with path.open("rb") as file:
            first = file.read(_END_BYTES)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _END_BYTES))
            last = file.read(_END_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    is_whole = first.removeprefix(_BYTE_ORDER_MARK).lstrip().startswith(
        b"["
    ) and last.rstrip().endswith(b"]")
    is_blank = not (first.strip() or last.strip())
    return None if is_whole or is_blank else "is not a whole CSL-JSON array"
