"""Services are asked by the proxy of settings or environment, downloads by that of settings."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.services.literature.errors import WorkLookupError
from carrel.services.literature.service_client import ServiceClient
from carrel.services.retry import RetryPolicy
from carrel.services.safe_download import DownloadError, SafeDownloader
from tests.services.literature.faults import FaultServer

NAMES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with FaultServer() as found:
        yield found


def ask(url: str, proxy: str | None = None) -> int:
    async def run() -> int:
        async with ServiceClient(proxy=proxy, retries=RetryPolicy(max_attempts=1)) as client:
            return (await client.ask("crossref", url, accept="application/json")).status

    return asyncio.run(run())


def download(url: str, folder: Path, proxy: str | None = None) -> None:
    async def run() -> None:
        async with SafeDownloader(folder, proxy=proxy) as downloader:
            await downloader.download(url, accept=["pdf"])

    asyncio.run(run())


def test_services_are_asked_by_the_proxy_of_the_settings(proxy: FaultServer) -> None:
    assert ask("http://services.example/works", proxy.url) == 404
    assert proxy.asked == ["http://services.example/works"]


def test_services_are_asked_by_the_proxy_of_the_environment(
    proxy: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", proxy.url)
    assert ask("http://services.example/works") == 404
    assert proxy.asked == ["http://services.example/works"]


def test_a_proxy_that_is_not_there_is_no_answer(proxy: FaultServer) -> None:
    with pytest.raises(WorkLookupError) as caught:
        ask("http://services.example/works", "http://127.0.0.1:9")
    assert caught.value.failure == "unreachable"


def test_downloads_use_the_proxy_of_the_settings_for_public_names_alone(
    proxy: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DownloadError) as caught:
        download("http://papers.example/a.pdf", tmp_path, proxy.url)
    assert caught.value.outcome == "absent"
    assert proxy.asked == ["http://papers.example/a.pdf"]
    for host in (
        *("10.0.0.1", "[::1]", "papers.example:8080", "2130706433", "0x7f.1", "localhost"),
        *("metadata.google.internal", "printer.local."),
    ):
        url = f"http://{host}/a.pdf"
        with pytest.raises(DownloadError) as caught:
            download(url, tmp_path, proxy.url)
        assert caught.value.outcome == "refused"
    monkeypatch.setenv("http_proxy", proxy.url)
    with pytest.raises(DownloadError):
        download("http://127.0.0.1/a.pdf", tmp_path)
    assert len(proxy.asked) == 1
