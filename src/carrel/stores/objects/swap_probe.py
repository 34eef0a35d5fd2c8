"""Asks a store whether it refuses the swaps that it must refuse.

Some servers that speak S3 accept a conditional write whatever the condition says.
"""

from __future__ import annotations

import secrets
from contextlib import suppress

from carrel.stores.objects.store import (
    LostSwapError,
    ObjectStore,
    ObjectStoreError,
    RegisterValue,
    UnsafeStoreError,
)


def check_swaps(store: ObjectStore) -> None:
    """Raises UnsafeStoreError where a second creation or a stale swap is taken."""
    name = f"probe-{secrets.token_hex(8)}"
    try:
        first = store.swap_register(name, b"1", None)
        if _takes(store, name, b"2", None):
            raise UnsafeStoreError(store.url, "creates what exists already (If-None-Match)")
        store.swap_register(name, b"3", first)
        if _takes(store, name, b"4", first):
            raise UnsafeStoreError(store.url, "replaces what has changed since (If-Match)")
    finally:
        # A few bytes that stay are no reason to give another answer.
        with suppress(ObjectStoreError):
            store.remove_register(name)


def _takes(store: ObjectStore, name: str, content: bytes, expected: RegisterValue | None) -> bool:
    try:
        store.swap_register(name, content, expected)
    except LostSwapError:
        return False
    return True
