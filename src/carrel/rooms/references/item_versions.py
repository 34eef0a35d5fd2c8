"""The version of a reference: a digest of its content, by which an editor knows it unchanged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_DIGEST_BYTES = 12


def item_version(item: Mapping[str, Any]) -> str:
    """The same for two items exactly if they say the same; the order of fields is of no account."""
    text = json.dumps(item, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()
