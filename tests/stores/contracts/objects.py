"""What every object store promises; each backend inherits it with a fixture `store`."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor

import pytest

from carrel.stores.objects.store import (
    LostSwapError,
    MissingObjectError,
    ObjectStore,
    ObjectStoreError,
    RegisterValue,
    read_whole,
)
from carrel.stores.objects.swap_probe import check_swaps

RACERS = 8


class ObjectStoreContract:
    def test_an_object_that_is_not_there_is_said_to_be_missing(self, store: ObjectStore) -> None:
        with pytest.raises(MissingObjectError, match="packs/none is missing"):
            read_whole(store, "packs/none", 10)
        assert store.find("packs/none") is None
        assert list(store.list_below("nothing")) == []
        store.remove(["packs/none"])

    def test_an_object_larger_than_allowed_is_not_read_into_memory(
        self, store: ObjectStore
    ) -> None:
        store.write("packs/large", b"x" * 101)
        with pytest.raises(ObjectStoreError, match="larger than 100 bytes"):
            read_whole(store, "packs/large", 100)

    def test_a_stale_swap_and_a_second_creation_are_refused(self, store: ObjectStore) -> None:
        name = secrets.token_hex(8)
        first = store.swap_register(name, b"one", None)
        second = store.swap_register(name, b"two", first)
        with pytest.raises(LostSwapError):
            store.swap_register(name, b"three", first)
        with pytest.raises(LostSwapError):
            store.swap_register(name, b"three", None)
        assert store.read_register(name) == second
        assert second.content == b"two"
        check_swaps(store)

    def test_of_eight_writers_one_wins_each_round(self, store: ObjectStore) -> None:
        name = secrets.token_hex(8)
        assert store.read_register(name) is None
        before: RegisterValue | None = None
        with ThreadPoolExecutor(RACERS) as hands:
            for _ in range(5):

                def swap(racer: int, before: RegisterValue | None = before) -> RegisterValue | None:
                    content = f"{racer} {secrets.token_hex(8)}".encode()
                    try:
                        return store.swap_register(name, content, before)
                    except LostSwapError:
                        return None

                winners = [each for each in hands.map(swap, range(RACERS)) if each is not None]
                assert len(winners) == 1
                before = winners[0]
                assert store.read_register(name) == before

    def test_objects_come_back_whole_and_are_listed_by_folder(self, store: ObjectStore) -> None:
        large = secrets.token_bytes(1024 * 1024) * 20
        store.write_pieces(
            "packs/large", (large[at : at + 999_999] for at in range(0, len(large), 999_999))
        )
        store.write("packs/small", b"small")
        store.write("files/empty", b"")
        assert b"".join(store.read("packs/large")) == large
        assert max(map(len, store.read("packs/large"))) < len(large)
        assert read_whole(store, "files/empty", 1) == b""
        found = {each.key: each.size_bytes for each in store.list_below("packs")}
        assert found.items() >= {"packs/large": len(large), "packs/small": 5}.items()
        assert "files/empty" not in found
        store.write("packs/small", b"other")
        assert read_whole(store, "packs/small", 10) == b"other"
        store.remove(["packs/small", "packs/large", "files/empty"])
        assert store.find("packs/small") is None
