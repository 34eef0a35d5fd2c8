"""Object stores: a folder, memory and a real server that speaks S3 keep the same promises."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from carrel.core.errors import NotConfiguredError
from carrel.stores.objects.addresses import open_objects
from carrel.stores.objects.folder import FolderObjects
from carrel.stores.objects.store import (
    PIECE_BYTES,
    BadStoreAddressError,
    LostSwapError,
    ObjectStore,
    ObjectStoreError,
    UnsafeStoreError,
)
from carrel.stores.objects.swap_probe import check_swaps
from tests.stores.contracts.objects import ObjectStoreContract
from tests.stores.object_servers import (
    BUCKET,
    NoObjectServerError,
    careless_server,
    moto_server,
    object_environment,
)


@pytest.fixture(scope="module")
def moto_endpoint() -> Iterator[str]:
    try:
        with moto_server() as endpoint:
            yield endpoint
    except NoObjectServerError as reason:
        pytest.skip(f"no S3 server here: {reason}")


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/x",
        "s3://",
        "s3://Bad_Bucket/x",
        "s3://key:secret@bucket/x",
        "s3://bucket/x?versionId=1",
        "file://host/folder",
        "relative/folder",
    ],
)
def test_an_address_that_names_no_store_is_refused_with_the_forms_that_do(address: str) -> None:
    with pytest.raises(BadStoreAddressError) as refused:
        open_objects(address)
    assert "s3://BUCKET/PREFIX" in refused.value.next_step


@pytest.mark.promise("Q12")
def test_a_server_that_takes_stale_swaps_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("obstore")
    with careless_server() as endpoint:
        for name, value in object_environment(endpoint).items():
            monkeypatch.setenv(name, value)
        store = open_objects(f"s3://{BUCKET}/papers")
        with pytest.raises(UnsafeStoreError, match="overwritten without a word") as refused:
            check_swaps(store)
    assert "conditional writes" in refused.value.next_step


def test_a_server_that_does_not_answer_is_said_with_its_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("obstore")
    for name, value in object_environment("http://127.0.0.1:1").items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ObjectStoreError, match=f"s3://{BUCKET}/papers") as refused:
        open_objects(f"s3://{BUCKET}/papers").read_register("published")
    assert "papers.corpus_url" in refused.value.next_step
    assert "test-secret" not in str(refused.value.to_facts())


def test_a_server_that_takes_connections_and_says_nothing_is_found_out_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The time-out of large objects would end this test."""
    remote = pytest.importorskip("carrel.stores.objects.remote", reason="obstore is missing")
    monkeypatch.setattr(remote, "_SMALL_TIMEOUT", timedelta(seconds=0.2))
    monkeypatch.setattr(remote, "_SMALL_RETRIES", {"max_retries": 0})
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        for name, value in object_environment(endpoint).items():
            monkeypatch.setenv(name, value)
        store = open_objects(f"s3://{BUCKET}/papers")
        with pytest.raises(ObjectStoreError, match=f"s3://{BUCKET}/papers"):
            store.read_register("writer")
        with pytest.raises(ObjectStoreError, match=f"s3://{BUCKET}/papers"):
            store.swap_register("writer", b"x", None)
        with pytest.raises(ObjectStoreError, match=f"s3://{BUCKET}/papers"):
            store.write("files/x", b"x")
        with pytest.raises(ObjectStoreError, match=f"s3://{BUCKET}/papers"):
            store.write("files/x", bytes(PIECE_BYTES))
        with pytest.raises(ObjectStoreError, match=f"s3://{BUCKET}/papers"):
            store.write_pieces("files/x", iter([bytes(PIECE_BYTES)] * 2))


def test_a_folder_that_is_not_there_and_names_that_lead_out_are_refused(tmp_path: Path) -> None:
    store = FolderObjects(tmp_path / "none")
    with pytest.raises(ObjectStoreError, match="no such folder"):
        list(store.read("packs/x"))
    with pytest.raises(ObjectStoreError, match="no such folder"):
        store.read_register("published")
    with pytest.raises(ObjectStoreError, match="no such folder"):
        store.write("packs/x", b"x")
    with pytest.raises(ObjectStoreError, match="no such folder"):
        store.swap_register("published", b"x", None)
    assert not (tmp_path / "none").exists()
    store = FolderObjects(tmp_path)
    for name in ("../x", "/etc/passwd", "registers/published/000000000001", ""):
        with pytest.raises(ValueError, match="not the name of an object"):
            store.write(name, b"x")


def test_a_writer_that_slept_while_its_number_was_swept_has_lost(tmp_path: Path) -> None:
    store = FolderObjects(tmp_path)
    slept = store.swap_register("writer", b"first", None)
    value = slept
    for at in range(300):
        value = store.swap_register("writer", f"{at}".encode(), value)
    kept = sorted((tmp_path / "registers" / "writer").iterdir())
    assert len(kept) < 150
    with pytest.raises(LostSwapError):
        store.swap_register("writer", b"late", slept)
    assert store.read_register("writer") == value


def test_a_swap_in_a_share_whose_answer_was_lost_has_been_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FolderObjects(tmp_path)
    first = store.swap_register("published", b"first", None)
    link = os.link

    def link_and_lose_the_answer(source: Path, target: Path) -> None:
        link(source, target)
        raise FileExistsError(target)

    monkeypatch.setattr(os, "link", link_and_lose_the_answer)
    second = store.swap_register("published", b"second", first)
    assert store.read_register("published") == second
    with pytest.raises(LostSwapError):
        store.swap_register("published", b"late", first)


def test_a_bucket_that_is_not_there_is_said(
    moto_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in object_environment(moto_endpoint).items():
        monkeypatch.setenv(name, value)
    store = open_objects("s3://nobody-made-it/papers")
    for write in (
        lambda: store.write("packs/x", b"x"),
        lambda: store.swap_register("published", b"x", None),
    ):
        with pytest.raises(ObjectStoreError, match="no such bucket"):
            write()


class TestFolderObjects(ObjectStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> ObjectStore:
        return FolderObjects(tmp_path)


class TestMemoryObjects(ObjectStoreContract):
    @pytest.fixture
    def store(self) -> ObjectStore:
        pytest.importorskip("obstore")
        from obstore.store import MemoryStore

        from carrel.stores.objects.remote import RemoteObjects

        return RemoteObjects(MemoryStore(), "memory://desk")


class TestS3Objects(ObjectStoreContract):
    @pytest.fixture
    def store(
        self, moto_endpoint: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
    ) -> ObjectStore:
        for name, value in object_environment(moto_endpoint).items():
            monkeypatch.setenv(name, value)
        return open_objects(f"s3://{BUCKET}/{request.node.name.replace('_', '-')}")


def test_without_the_driver_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "obstore", None)
    monkeypatch.delitem(sys.modules, "carrel.stores.objects.remote", raising=False)
    with pytest.raises(NotConfiguredError, match="obstore") as refused:
        open_objects("s3://bucket/papers")
    assert "carrel[objects]" in refused.value.next_step
    assert open_objects("file:///srv/papers").url == "file:///srv/papers"
