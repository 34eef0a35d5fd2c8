"""A download reaches public addresses alone, takes only what it was asked for, and keeps to its
bounds.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import tracemalloc
from collections.abc import Collection, Iterator
from pathlib import Path

import httpx2
import pytest

from carrel.services.download_formats import DownloadFormat, is_login_page, sniff_format
from carrel.services.fetching import Resolve, is_public
from carrel.services.pinned_transport import AddressRefusedError, refuse_unsafe_url
from carrel.services.refused_hosts import is_refused_host
from carrel.services.safe_download import (
    Downloaded,
    DownloadError,
    DownloadLimits,
    SafeDownloader,
)
from tests.services.literature.faults import ANSWERS, LOGIN_PAGE, PDF, FaultServer, http

LIMITS = DownloadLimits(
    max_bytes=2_000_000, connect_seconds=0.5, read_seconds=0.3, total_seconds=1.5
)


@pytest.fixture(scope="module")
def faults() -> Iterator[FaultServer]:
    with FaultServer() as found:
        yield found


PDF_ALONE: tuple[DownloadFormat, ...] = ("pdf",)


def download(
    url: str,
    folder: Path,
    faults: FaultServer | None = None,
    accept: Collection[DownloadFormat] = PDF_ALONE,
    resolve: Resolve | None = None,
    private_hosts: Collection[str] = (),
) -> Downloaded:
    allowed = {*private_hosts, *((faults.origin,) if faults is not None else ())}

    async def run() -> Downloaded:
        async with SafeDownloader(
            folder, private_hosts=allowed, limits=LIMITS, resolve=resolve
        ) as downloader:
            return await downloader.download(url, accept=accept)

    return asyncio.run(run())


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/a.pdf",
        "file:///etc/passwd",
        "gopher://example.org/",
        "data:application/pdf,%25PDF-",
        "//example.org/a.pdf",
        "http://",
        "no url at all",
        "http://me:pass@example.org/a.pdf",
        "https://example.org:8443/a.pdf",
        "http://example.org:22/",
        "http://127.0.0.1/",
        "http://localhost/",
        "http://[::1]/",
        "http://0.0.0.0/",
        "http://10.1.2.3/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://[fe80::1]/",
        "http://[fc00::1]/",
        "http://[ff02::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::127.0.0.1]/",
        "http://[2002:7f00:1::]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "https://sci-hub.se/10.1000/1",
        "https://www.sci-hub.example.org/10.1000/1",
        "https://annas-archive.org/a",
        "https://books.library.lol/x",
    ],
)
def test_addresses_that_are_not_of_the_public_net_are_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(DownloadError) as caught:
        download(url, tmp_path)
    assert caught.value.outcome == "refused"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("/to-loopback", "refused"),
        ("/to-other-port", "refused"),
        ("/to-metadata", "refused"),
        ("/to-private", "refused"),
        ("/to-decimal", "refused"),
        ("/to-mapped", "refused"),
        ("/to-file", "refused"),
        ("/to-userinfo", "refused"),
        ("/to-pirates", "refused"),
        ("/to-nowhere", "failed"),
        ("/loop", "refused"),
        ("/404", "absent"),
        ("/401", "blocked"),
        ("/403", "blocked"),
        ("/429", "blocked"),
        ("/500", "failed"),
        ("/empty", "unreadable"),
        ("/good", "unreadable"),
        ("/page-as-pdf", "unreadable"),
        ("/login-as-pdf", "blocked"),
        ("/short.pdf", "failed"),
        ("/bomb.pdf", "refused"),
        ("/brotli.pdf", "refused"),
        ("/damaged-gzip", "unreadable"),
        ("/endless", "refused"),
        ("/slow-head", "failed"),
        ("/slow-body", "failed"),
        ("/reset", "failed"),
        ("/garbage", "failed"),
    ],
)
def test_every_fault_is_told_and_leaves_nothing(
    faults: FaultServer, tmp_path: Path, fault: str, outcome: str
) -> None:
    with pytest.raises(DownloadError) as caught:
        download(f"{faults.url}{fault}", tmp_path, faults)
    assert caught.value.outcome == outcome
    assert not list(tmp_path.iterdir())


def test_a_login_page_is_named(faults: FaultServer, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="log-in page"):
        download(f"{faults.url}/login-as-pdf", tmp_path, faults)
    assert is_login_page(LOGIN_PAGE)


def test_a_file_is_named_for_its_content_and_kept_whole(
    faults: FaultServer, tmp_path: Path
) -> None:
    found = download(f"{faults.url}/good.pdf", tmp_path, faults)
    content = found.path.read_bytes()
    assert found.format == "pdf"
    assert found.path.name == f"{hashlib.sha256(content).hexdigest()}.pdf"
    assert found.size_bytes == len(content)
    assert download(f"{faults.url}/good.pdf", tmp_path, faults) == found
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_was_packed_on_the_way_is_unpacked(faults: FaultServer, tmp_path: Path) -> None:
    body = gzip.compress(b"%PDF-1.4 " + b"abc" * 1000)
    ANSWERS["/packed.pdf"] = http(200, {**PDF, "Content-Encoding": "gzip"}, body)
    found = download(f"{faults.url}/packed.pdf", tmp_path, faults)
    assert found.path.read_bytes().startswith(b"%PDF-1.4 abc")


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["93.184.215.14", "10.0.0.1"],
        ["2606:2800:21f::1", "::1"],
        ["fe80::1%eth0"],
    ],
)
def test_a_name_is_refused_if_any_of_its_addresses_is_private(
    addresses: list[str], tmp_path: Path
) -> None:
    async def resolve(_: str) -> list[str]:
        return addresses

    with pytest.raises(DownloadError, match="not at a public address"):
        download("https://paper.example/a.pdf", tmp_path, resolve=resolve)


def test_a_name_that_changes_its_address_is_looked_up_once(
    faults: FaultServer, tmp_path: Path
) -> None:
    asked: list[str] = []

    async def resolve(name: str) -> list[str]:
        asked.append(name)
        # Public at the check; at a second look-up it would be this machine.
        return ["192.88.98.1"] if len(asked) == 1 else ["127.0.0.1"]

    before = len(faults.asked)
    # What is at the public address depends on the network of whoever runs this.
    with pytest.raises(DownloadError):
        download(f"{faults.url}/to-rebinding", tmp_path, faults, resolve=resolve)
    assert asked == ["rebinding.example"]
    assert len(faults.asked) == before + 1


def test_https_is_not_left_for_http() -> None:
    with pytest.raises(AddressRefusedError, match="https to http"):
        refuse_unsafe_url(httpx2.URL("http://example.org/"), is_secure_only=True)
    refuse_unsafe_url(httpx2.URL("https://example.org/"), is_secure_only=True)


def test_proxies_of_the_environment_are_ignored(
    faults: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert download(f"{faults.url}/good.pdf", tmp_path, faults).format == "pdf"


def test_memory_is_bounded_by_a_piece(faults: FaultServer, tmp_path: Path) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(DownloadError):
            download(f"{faults.url}/bomb.pdf", tmp_path, faults)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"%PDF-1.4", "pdf"),
        (b"\n\n junk %PDF-1.4", "pdf"),
        (b"<!DOCTYPE html><html>", "html"),
        (b"  <html lang='en'>", "html"),
        (b"<?xml version='1.0'?><!DOCTYPE html PUBLIC 'x'><html>", "html"),
        (
            b"<?xml version='1.0'?>\n<!DOCTYPE article PUBLIC '-//NLM//DTD' 'x.dtd'><article>",
            "jats",
        ),
        (b"<article xmlns:xlink='x'>", "jats"),
        (b"<pmc-articleset><article>", "jats"),
        (b"\x1f\x8b\x08", "tex"),
        (b"% a comment\n\\documentclass{article}", "tex"),
        (b"<?xml version='1.0'?><rss>", None),
        (b'{"error": 1}', None),
        (b"PK\x03\x04", None),
        (b"Not found", None),
    ],
)
def test_a_format_is_told_by_the_first_bytes(head: bytes, found: str | None) -> None:
    assert sniff_format(head) == found


@pytest.mark.parametrize(
    "address",
    ["fec0::1", "::ffff:10.0.0.1", "64:ff9b:1::a00:1", "192.0.2.1", "198.18.0.1", "0.1.2.3", "x"],
)
def test_further_private_forms_are_not_public(address: str) -> None:
    assert not is_public(address)


def test_honest_hosts_are_not_refused() -> None:
    for host in ("arxiv.org", "europepmc.org", "www.nature.com", "zlib.net", "hub.example.org"):
        assert not is_refused_host(host), host
    for host in ("sci-hub.st", "zh.sci-hub.ru", "libgen.is", "Z-Library.sk", "gen.lib.rus.ec"):
        assert is_refused_host(host), host
