"""Static files from a folder and over HTTP: found, refused, late, too large, moved."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from carrel.services.http_assets import HttpAssets
from carrel.services.static_assets import FolderAssets


class _Site(BaseHTTPRequestHandler):
    """A few files, and a few ways to misbehave."""

    release = threading.Event()

    def do_GET(self) -> None:
        name = self.path.removeprefix("/base/")
        match name:
            case "md/there.md":
                self._answer(200, b"from the web")
            case "md/large.md":
                self._answer(200, b"x" * 3000)
            case "md/broken.md":
                self._answer(500, b"stack trace with /secret/path")
            case "md/near.md":
                self._answer(302, b"", {"Location": "/base/md/there.md"})
            case "md/far.md":
                self._answer(302, b"", {"Location": "http://localhost:1/md/there.md"})
            case "md/round.md":
                self._answer(302, b"", {"Location": "/base/md/round.md"})
            case "md/late.md":
                self.release.wait(30)
                self._answer(200, b"too late")
            case _:
                self._answer(404, b"")

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def site() -> Iterator[str]:
    _Site.release.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/base/"
    _Site.release.set()
    server.shutdown()
    thread.join()
    server.server_close()


def fetch(site: str, name: str, folder: Path | None = None, timeout_seconds: float = 10.0) -> bytes:
    async def read() -> bytes:
        assets = HttpAssets(
            site,
            folder=FolderAssets(folder) if folder else None,
            timeout_seconds=timeout_seconds,
            max_bytes=2000,
        )
        try:
            return await assets.read(name)
        finally:
            await assets.close()

    return asyncio.run(read())


@pytest.mark.promise("P11")
@pytest.mark.parametrize(
    "name",
    [
        "../secret",
        "md/../../secret",
        "/etc/passwd",
        "md//x.md",
        "",
        ".",
        "md/.hidden",
        "md\\x.md",
        "md/\x00.md",
        "md/ä.md",
        "md/" + "x" * 300,
    ],
)
def test_a_name_that_climbs_or_hides_does_not_exist(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (tmp_path / "static" / "md").mkdir(parents=True)
    (tmp_path / "static" / "md" / ".hidden").write_text("hidden", encoding="utf-8")
    with pytest.raises(FileNotFoundError) as caught:
        asyncio.run(FolderAssets(tmp_path / "static").read(name))
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.promise("P11")
def test_a_folder_is_read_and_links_inside_it_are_followed_but_not_out_of_it(
    tmp_path: Path,
) -> None:
    static = tmp_path / "static"
    static.mkdir()
    (static / "a.md").write_text("inside", encoding="utf-8")
    (static / "b.md").symlink_to(static / "a.md")
    (tmp_path / "out.md").write_text("outside", encoding="utf-8")
    (static / "c.md").symlink_to(tmp_path / "out.md")
    assets = FolderAssets(static, max_bytes=6)
    assert asyncio.run(assets.read("a.md")) == asyncio.run(assets.read("b.md")) == b"inside"
    with pytest.raises(FileNotFoundError):
        asyncio.run(assets.read("c.md"))
    (static / "d.md").write_text("too long", encoding="utf-8")
    with pytest.raises(OSError, match="larger than 6 bytes"):
        asyncio.run(assets.read("d.md"))


@pytest.mark.promise("P11")
def test_the_folder_is_tried_first_and_the_web_after_it(tmp_path: Path, site: str) -> None:
    assert fetch(site, "md/there.md", tmp_path) == b"from the web"
    (tmp_path / "md").mkdir()
    (tmp_path / "md" / "there.md").write_text("from the folder", encoding="utf-8")
    assert fetch(site, "md/there.md", tmp_path) == b"from the folder"


@pytest.mark.promise("P11")
@pytest.mark.parametrize("name", ["md/broken.md", "md/large.md", "md/far.md", "md/round.md"])
def test_trouble_on_the_web_is_an_error_that_shows_no_place(site: str, name: str) -> None:
    with pytest.raises(OSError) as caught:
        fetch(site, name)
    assert not isinstance(caught.value, FileNotFoundError | TimeoutError)
    assert "127.0.0.1" not in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.promise("P11")
def test_a_redirect_on_the_same_host_is_followed(site: str) -> None:
    assert fetch(site, "md/near.md") == b"from the web"


@pytest.mark.promise("P7")
def test_absent_and_late_are_told_apart(site: str) -> None:
    with pytest.raises(FileNotFoundError):
        fetch(site, "md/absent.md")
    with pytest.raises(TimeoutError):
        fetch(site, "md/late.md", timeout_seconds=0.2)


@pytest.mark.promise("P7")
def test_a_site_that_is_not_there_is_an_error(site: str) -> None:
    with pytest.raises(OSError):
        fetch("http://127.0.0.1:9/none", "md/there.md")
