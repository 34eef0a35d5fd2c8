"""Which relative names may be asked for at all."""

from __future__ import annotations

import errno
import re

DEFAULT_TIMEOUT_SECONDS = 10.0
DEFAULT_MAX_BYTES = 32 * 1024 * 1024

_PIECE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}")


def checked(name: str) -> str:
    """The name if every piece of it is plain; a name that climbs or hides is a file that does not
    exist.
    """
    if not all(_PIECE.fullmatch(piece) for piece in name.split("/")):
        raise missing()
    return name


def missing() -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, "no such static file")


def too_large(max_bytes: int) -> OSError:
    return OSError(errno.EFBIG, f"the static file is larger than {max_bytes} bytes")
