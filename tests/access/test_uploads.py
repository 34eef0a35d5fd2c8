"""Uploads over HTTP: who may, how they grow, what is refused, and what becomes of them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from carrel.settings import Settings
from carrel.stores.file_lock import hold_lock
from tests.access.support import House, bearer, opened
from tests.services.pdf_files import make_pdf

pytestmark = pytest.mark.promise("P12")

PIECE = {"content-type": "application/offset+octet-stream"}
PDF = make_pdf(
    [[(18, "On the songs of whales"), (11, "Whales sing in spring and dive in winter.")]],
    "On the songs of whales",
)


def settings(home: Path, **papers: Any) -> Settings:
    return Settings.model_validate(
        {
            "home": home,
            "rooms": ["papers"],
            "auth": {"mode": "tokens"},
            "limits": {"per_minute": 6000, "burst": 1000},
            "papers": papers,
        }
    )


@asynccontextmanager
async def served(home: Path, **papers: Any) -> AsyncIterator[tuple[House, str]]:
    async with opened(settings(home, **papers)) as house:
        yield house, await house.token("papers:write", "papers:read", user="ada")


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(test())  # type: ignore[arg-type]


async def begin(house: House, token: str | None, content: bytes, **facts: Any) -> httpx2.Response:
    body = {"name": "paper.pdf", "size": len(content), **facts}
    return await house.http.post("/uploads", json=body, headers=bearer(token))


async def send(
    house: House, token: str | None, upload_id: str, offset: int, piece: bytes, **headers: str
) -> httpx2.Response:
    return await house.http.patch(
        f"/uploads/{upload_id}",
        content=piece,
        headers={**bearer(token), **PIECE, "upload-offset": str(offset), **headers},
    )


async def whole(house: House, token: str, content: bytes, **facts: Any) -> httpx2.Response:
    begun = await begin(house, token, content, **facts)
    return await send(house, token, begun.json()["upload_id"], 0, content)


def test_strangers_and_readers_may_not_upload_and_a_refusal_is_written_down(
    tmp_path: Path,
) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, _):
            reader = await house.token("papers:read", user="bob")
            assert (await begin(house, None, PDF)).status_code == 401
            refused = await begin(house, reader, PDF)
            assert (refused.status_code, refused.json()["error_type"]) == (
                403, "insufficient_permissions",
            )  # fmt: skip
            for method in ("HEAD", "GET", "PATCH", "DELETE"):
                answer = await house.http.request(
                    method, f"/uploads/{'0' * 32}", headers={**bearer(reader), **PIECE}
                )
                assert answer.status_code == 403, method
            assert not (tmp_path / "uploads").exists()
            denied = [line for line in house.audit_lines() if line["phase"] == "refused"]
            assert len(denied) >= 2

    run(test)


def test_a_file_is_sent_in_pieces_resumed_and_becomes_a_paper(tmp_path: Path) -> None:
    async def test() -> None:
        digest = hashlib.sha256(PDF).hexdigest()
        async with served(tmp_path) as (house, token):
            begun = await begin(house, token, PDF, sha256=digest)
            facts = begun.json()
            assert (begun.status_code, facts["offset"], facts["is_complete"]) == (201, 0, False)
            place = begun.headers["location"]
            assert place == f"/uploads/{facts['upload_id']}"
            half = len(PDF) // 2
            sent = await send(house, token, facts["upload_id"], 0, PDF[:half])
            assert (sent.status_code, sent.headers["upload-offset"]) == (200, str(half))
        # Another process goes on where the first one stopped.
        async with served(tmp_path) as (house, _):
            token = await house.token("papers:write", user="ada")
            seen = await house.http.head(place, headers=bearer(token))
            assert (seen.headers["upload-offset"], seen.headers["upload-length"], seen.content) == (
                str(half), str(len(PDF)), b"",
            )  # fmt: skip
            early = await house.invoke("add_paper", token, {"upload_id": facts["upload_id"]})
            assert (early.status_code, early.json()["error_type"]) == (409, "conflict")
            sent = await send(house, token, facts["upload_id"], half, PDF[half:])
            assert (sent.json()["is_complete"], sent.json()["kind"]) == (True, "pdf")
            added = await house.invoke("add_paper", token, {"upload_id": facts["upload_id"]})
            assert added.json()["result"]["is_new"], added.text
            assert (await house.http.head(place, headers=bearer(token))).status_code == 404
            assert not list((tmp_path / "uploads").glob("*.part"))
            actions = [(line["action"], line["phase"]) for line in house.audit_lines()]
            assert actions.count(("tool:begin_upload", "started")) == 1
            assert actions.count(("upload:end", "noted")) == 1
            assert not [action for action, _ in actions if "append" in action]

    run(test)


def test_another_caller_never_learns_of_an_upload(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, token):
            other = await house.token("papers:write", user="eve")
            upload_id = (await begin(house, token, PDF)).json()["upload_id"]
            for name in (upload_id, "0" * 32, "..%2f..%2fetc", "x" * 5000):
                for method in ("HEAD", "DELETE"):
                    answer = await house.http.request(
                        method, f"/uploads/{name}", headers=bearer(other)
                    )
                    assert answer.status_code == 404
                assert (await send(house, other, name, 0, b"x")).status_code == 404
            used = await house.invoke("add_paper", other, {"upload_id": upload_id})
            assert used.status_code == 404
            assert (
                await house.http.head(f"/uploads/{upload_id}", headers=bearer(token))
            ).is_success

    run(test)


def test_a_wrong_offset_type_or_size_changes_nothing(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, token):
            upload_id = (await begin(house, token, PDF)).json()["upload_id"]
            await send(house, token, upload_id, 0, PDF[:10])
            for offset in (0, 9, 11, 10**14):
                answer = await send(house, token, upload_id, offset, b"x")
                assert (answer.status_code, answer.json()["details"]["offset"]) == (409, 10)
            for header in ("-1", "ten", "", "9" * 40):
                answer = await send(house, token, upload_id, 0, b"x", **{"upload-offset": header})
                assert answer.status_code == 400
            wrong = await send(house, token, upload_id, 10, b"x", **{"content-type": "text/plain"})
            assert wrong.status_code == 415
            more = await send(house, token, upload_id, 10, PDF)
            assert (more.status_code, more.json()["error_type"]) == (413, "upload_too_large")
            large = await send(house, token, upload_id, 10, bytes(4 * 1024 * 1024 + 1))
            assert (large.status_code, large.json()["error_type"]) == (413, "body_too_large")
            seen = await house.http.head(f"/uploads/{upload_id}", headers=bearer(token))
            assert seen.headers["upload-offset"] == "10"

    run(test)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("paper.pdf", b"PK\x03\x04 a zip", "archive"),
        ("paper.pdf", b"\x89PNG\r\n\x1a\n", "picture"),
        ("paper.pdf", b"\x00\x01\x02\x03 binary", "unknown"),
        ("paper.md", b"   \n\n ", "empty"),
        ("data.json", b'{"a": 1}', "unknown"),
    ],
)
def test_what_no_paper_can_be_made_of_is_refused_by_its_content(
    tmp_path: Path, name: str, content: bytes, why: str
) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, token):
            refused = await whole(house, token, content, name=name)
            assert (refused.status_code, refused.json()["error_type"]) == (415, "upload_refused")
            assert refused.json()["details"]["kind"] == why
            assert not list((tmp_path / "uploads").glob("*.part"))
            assert [line for line in house.audit_lines() if line["action"] == "upload:end"]

    run(test)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("x", b"---\ntitle: T\n---\nText\n", "text"),
        ("paper.md", b"# Title\n\nText\n", "markdown"),
        ("list.txt", b"@article{a, title={Growth}, year=2001}\n", "bibliography"),
        ("list", b"TY  - JOUR\nTI  - Growth\nPY  - 2001\nER  - \n", "bibliography"),
        ("a.json", b'[{"id": "a", "type": "book", "title": "Growth"}]', "bibliography"),
        (
            "a.dat",
            b"<?xml version='1.0'?><article><front><article-meta><title-group><article-title>T"
            b"</article-title></title-group></article-meta></front></article>",
            "jats",
        ),
    ],
)
def test_each_kind_of_paper_is_recognised_by_content_and_added(
    tmp_path: Path, name: str, content: bytes, kind: str
) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, token):
            sent = await whole(house, token, content, name=name)
            assert sent.json()["kind"] == kind
            added = await house.invoke("add_paper", token, {"upload_id": sent.json()["upload_id"]})
            assert added.json()["result"]["is_new"], added.text

    run(test)


def test_damaged_bytes_are_refused_by_their_hash(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, token):
            refused = await whole(house, token, PDF, sha256="0" * 64)
            assert (refused.status_code, refused.json()["error_type"]) == (415, "upload_refused")
            bad = await begin(house, token, PDF, sha256="xyz")
            assert bad.status_code == 400

    run(test)


def test_sizes_numbers_and_sums_are_bounded_per_caller(tmp_path: Path) -> None:
    async def test() -> None:
        limits = {
            "max_upload_bytes": 1000, "max_open_uploads": 3, "max_upload_bytes_per_caller": 1500,
        }  # fmt: skip
        async with served(tmp_path, **limits) as (house, token):
            assert (await begin(house, token, b"x" * 1001)).status_code == 413
            first = (await begin(house, token, b"x" * 1000)).json()["upload_id"]
            over = await begin(house, token, b"x" * 501)
            assert (over.status_code, "1,500" in over.json()["error"]) == (413, True)
            assert (await begin(house, token, b"x" * 250)).status_code == 201
            assert (await begin(house, token, b"x" * 250)).status_code == 201
            assert (await begin(house, token, b"x")).status_code == 413
            # Another caller's are counted apart.
            other = await house.token("papers:write", user="eve")
            assert (await begin(house, other, b"x" * 1000)).status_code == 201
            gone = await house.http.delete(f"/uploads/{first}", headers=bearer(token))
            assert gone.status_code == 204
            assert (await begin(house, token, b"x")).status_code == 201

    run(test)


def test_a_killed_request_leaves_no_byte_that_was_not_acknowledged(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, token):
            upload_id = (await begin(house, token, PDF)).json()["upload_id"]
            await send(house, token, upload_id, 0, PDF[:100])
            # What a process wrote that was killed before it could say so.
            with (tmp_path / "uploads" / f"{upload_id}.part").open("ab") as file:
                file.write(b"half a piece")
            seen = await house.http.head(f"/uploads/{upload_id}", headers=bearer(token))
            assert seen.headers["upload-offset"] == "100"
            sent = await send(house, token, upload_id, 100, PDF[100:])
            assert sent.json()["is_complete"]
            assert (tmp_path / "uploads" / f"{upload_id}.part").read_bytes() == PDF

    run(test)


def test_two_writers_never_interleave(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, token):
            upload_id = (await begin(house, token, PDF)).json()["upload_id"]
            # Another worker is at it.
            with hold_lock(tmp_path / "uploads" / f"{upload_id}.lock"):
                assert (await send(house, token, upload_id, 0, PDF[:9])).status_code == 409
            pieces = [send(house, token, upload_id, 0, bytes([65 + at]) * 100) for at in range(8)]
            answers = await asyncio.gather(*pieces)
            assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
            content = (tmp_path / "uploads" / f"{upload_id}.part").read_bytes()
            assert len(content) == 100
            assert len(set(content)) == 1

    run(test)


def test_an_upload_expires_and_its_bytes_are_swept(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path, upload_hours=1e-9) as (house, token):
            upload_id = (await begin(house, token, PDF)).json()["upload_id"]
            gone = await house.http.head(f"/uploads/{upload_id}", headers=bearer(token))
            assert gone.status_code == 404
            await begin(house, token, PDF)
            names = {path.stem for path in (tmp_path / "uploads").glob("*.part")}
            assert upload_id not in names

    run(test)


def test_names_never_reach_paths(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path / "home") as (house, token):
            for name in ("../../escape.pdf", "/etc/passwd", "a\x00b", "C:\\x", "\u202e.pdf"):
                sent = await whole(house, token, PDF, name=name)
                assert sent.status_code == 200, sent.text
            assert [path.name for path in tmp_path.iterdir()] == ["home"]
            kept = {path.suffix for path in (tmp_path / "home" / "uploads").iterdir()}
            assert kept <= {".json", ".part", ".lock", ""}

    run(test)


def test_pages_of_other_sites_may_not_upload(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, token):
            foreign = {**bearer(token), "origin": "https://evil.example"}
            body = {"name": "a", "size": 1}
            answer = await house.http.post("/uploads", json=body, headers=foreign)
            assert answer.status_code == 403
            other_host = {**bearer(token), "host": "evil.example"}
            answer = await house.http.post("/uploads", json=body, headers=other_host)
            assert answer.status_code == 421

    run(test)


def test_a_listed_page_may_send_pieces_and_read_how_far_it_is(tmp_path: Path) -> None:
    async def test() -> None:
        chosen = settings(tmp_path)
        server = chosen.server.model_copy(update={"allowed_origins": ("https://page.example",)})
        async with opened(chosen.model_copy(update={"server": server})) as house:
            asked = {
                "origin": "https://page.example",
                "access-control-request-method": "PATCH",
                "access-control-request-headers": "upload-offset",
            }
            answer = await house.http.options(f"/uploads/{'0' * 32}", headers=asked)
            assert "PATCH" in answer.headers["access-control-allow-methods"]
            assert "upload-offset" in answer.headers["access-control-allow-headers"]
            assert "upload-offset" in answer.headers["access-control-expose-headers"]

    run(test)


def test_where_the_home_does_not_last_uploads_are_refused_with_the_reason(tmp_path: Path) -> None:
    async def test() -> None:
        chosen = settings(tmp_path)
        changes = {
            "server": chosen.server.model_copy(update={"home_is_persistent": False}),
            "auth": chosen.auth.model_copy(update={"mode": "local"}),
        }
        async with opened(chosen.model_copy(update=changes)) as house:
            refused = await begin(house, None, PDF)
            assert (refused.status_code, refused.json()["error_type"]) == (
                503, "home_not_persistent",
            )  # fmt: skip

    run(test)
