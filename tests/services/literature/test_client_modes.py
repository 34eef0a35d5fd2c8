"""Answers are kept by their kind, searches are recorded and repeated, and no secret stays."""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from carrel.core.errors import NotConfiguredError
from carrel.services.fetching import HttpAnswer
from carrel.services.literature.answers import AnswerKind, ServiceAnswer
from carrel.services.literature.cache import AnswerCache
from carrel.services.literature.errors import (
    NetworkOffError,
    NotRecordedError,
    WorkLookupError,
)
from carrel.services.literature.governor import Governor
from carrel.services.literature.recordings import Exchange, Recordings
from carrel.services.literature.service_client import Mode, ServiceClient
from tests.services.literature.fake_time import LongestWaits, Waits
from tests.services.literature.recorded import SERVICES_DATA, RecordedServices, needs_recordings

DAY = 86_400.0
KEY = "sk3cr3t-0123456789abcdef"
CONTACT = "Jane.Doe@Uni-Example.org"
Found = TypeVar("Found")


class Desk:
    """A home whose client may be opened again and again, on a day of its own."""

    def __init__(self, home: Path, server: RecordedServices) -> None:
        self.home = home
        self.server = server
        self.time = 1_700_000_000.0

    def run(
        self,
        work: Callable[[ServiceClient], Awaitable[Found]],
        mode: Mode = "live",
        network: bool = True,
        recordings: Path | None = None,
        governor: Governor | None = None,
    ) -> Found:
        waits = Waits()

        async def scene() -> Found:
            client = ServiceClient(
                CONTACT,
                AnswerCache(self.home / "answers", clock=lambda: self.time, rng=random.Random(1)),
                mode=mode,
                recordings=Recordings(recordings or self.home / "recordings"),
                governor=governor,
                network=network,
                sleep=waits.sleep,
                clock=waits.clock,
                now=lambda: self.time,
                rng=LongestWaits(),
            )
            async with client:
                return await work(client)

        return asyncio.run(scene())

    def ask(self, path: str, mode: Mode = "live", **options: Any) -> ServiceAnswer:
        service, _, rest = path.partition("/")
        places = {"recordings", "network", "governor"}
        around = {name: options.pop(name) for name in places & options.keys()}
        options = {"accept": "application/json", **options}
        url = f"{self.server.url(service)}/{rest}"
        return self.run(lambda client: client.ask(service, url, **options), mode, **around)


@pytest.fixture
def desk(tmp_path: Path) -> Any:
    with RecordedServices(folder=tmp_path / "none") as server:
        server.add("openalex", exchange("https://api.openalex.org/works?search=a&b=1"))
        server.add("openalex", exchange("https://api.openalex.org/works/W404", 404))
        yield Desk(tmp_path / "home", server)


def exchange(url: str, status: int = 200, body: str = '{"results": [1]}') -> Exchange:
    return Exchange("GET", url, status, {"content-type": "application/json"}, body.encode())


@pytest.mark.parametrize(
    ("kind", "days"),
    [
        (AnswerKind.RECORD, 30),
        (AnswerKind.SEARCH, 1),
        (AnswerKind.NOTICE, 7),
        (AnswerKind.LISTING, 7),
        (AnswerKind.PROBE, 0),
    ],
)
def test_an_answer_is_kept_as_long_as_its_kind_says(
    desk: Desk, kind: AnswerKind, days: int
) -> None:
    first = desk.ask("openalex/works?search=a&b=1", kind=kind)
    assert not first.sent.is_from_cache
    assert first.sent.answered_at == "2023-11-14T22:13:20+00:00"
    if days:
        desk.time += days * DAY - 1
        again = desk.ask("openalex/works?b=1&search=a", kind=kind)
        assert again.sent.is_from_cache
        assert again.sent.answered_at == first.sent.answered_at
        assert again.body == first.body
        assert len(desk.server.asked) == 1
        desk.time += 2
    desk.ask("openalex/works?search=a&b=1", kind=kind)
    assert len(desk.server.asked) == 2


def test_not_found_is_kept_for_a_day_whatever_was_asked(desk: Desk) -> None:
    for later, asked in ((0.0, 1), (DAY - 1, 1), (2.0, 2)):
        desk.time += later
        assert desk.ask("openalex/works/W404", kind=AnswerKind.RECORD).status == 404
        assert len(desk.server.asked) == asked


def test_an_old_answer_is_asked_about_and_still_holds(desk: Desk) -> None:
    tagged = {"content-type": "application/json", "etag": '"v1"', "last-modified": "yesterday"}
    desk.server.first += [(200, tagged, b'{"results": [1]}'), (304, {"etag": '"v1"'}, b"")]
    first = desk.ask("openalex/works/W1")
    desk.time += 31 * DAY
    again = desk.ask("openalex/works/W1")
    assert desk.server.asked[1].headers["if-none-match"] == '"v1"'
    assert desk.server.asked[1].headers["if-modified-since"] == "yesterday"
    assert again.body == first.body
    assert again.sent.answered_at == first.sent.answered_at
    desk.time += 29 * DAY
    desk.ask("openalex/works/W1")
    assert len(desk.server.asked) == 2


def test_a_damaged_or_cut_answer_in_the_cache_is_asked_for_again(desk: Desk) -> None:
    desk.ask("openalex/works?search=a&b=1")
    file = next((desk.home / "answers").glob("*.cached"))
    for content in (b"garbage", file.read_bytes()[:-3]):
        file.write_bytes(content)
        assert desk.ask("openalex/works?search=a&b=1").status == 200
    assert len(desk.server.asked) == 3


def test_the_oldest_answers_make_room_and_those_of_earlier_versions_go(tmp_path: Path) -> None:
    old = tmp_path / "lookups"
    old.mkdir()
    (old / "x.answer").write_bytes(b"mailto=me@example.org")
    cache = AnswerCache(tmp_path / "answers", max_bytes=10_000, replaces=old)
    for number in range(200):
        cache.put(f"{number:064}", HttpAnswer(200, {}, b"x" * 900))
    cache.prune()
    files = list((tmp_path / "answers").iterdir())
    assert sum(file.stat().st_size for file in files) <= 10_000
    assert cache.get(f"{199:064}") is not None
    assert cache.get(f"{0:064}") is None
    assert not list(old.iterdir())


def test_off_line_an_answer_of_any_age_is_given_and_nothing_is_asked(desk: Desk) -> None:
    desk.ask("openalex/works?search=a&b=1", kind=AnswerKind.SEARCH)
    desk.time += 1000 * DAY
    found = desk.ask("openalex/works?search=a&b=1", mode="offline", kind=AnswerKind.SEARCH)
    assert found.sent.is_from_cache
    assert found.sent.answered_at == "2023-11-14T22:13:20+00:00"
    with pytest.raises(NetworkOffError) as caught:
        desk.ask("openalex/works?search=other", mode="offline")
    assert caught.value.failure == "network_off"
    assert len(desk.server.asked) == 1


def test_where_the_network_is_forbidden_nothing_is_asked(desk: Desk) -> None:
    with pytest.raises(NetworkOffError) as caught:
        desk.ask("openalex/works?search=a&b=1", network=False)
    assert caught.value.failure == "network_off"

    async def download(client: ServiceClient) -> None:
        async with client.turn("arxiv", f"{desk.server.base}/pdf/1"):
            raise AssertionError

    for mode in ("live", "replay", "offline"):
        with pytest.raises(NetworkOffError):
            desk.run(download, mode=mode, network=False)
    assert desk.server.asked == []


def test_what_was_recorded_is_repeated_to_the_letter(desk: Desk) -> None:
    options = {"secret_params": {"api_key": KEY, "mailto": CONTACT}, "kind": AnswerKind.SEARCH}
    desk.server.first += [(200, {"content-type": "application/json"}, b'{"a": [1]}')]
    live = desk.ask("openalex/works?search=a&b=1", mode="record", **options)
    missing = desk.ask("openalex/works/W404", mode="record")
    desk.server.first += [(503, {}, b"")] * 4
    with pytest.raises(WorkLookupError) as failed:
        desk.ask("openalex/works?search=down", mode="record")
    asked = len(desk.server.asked)
    desk.time += 1000 * DAY
    for _ in range(2):
        again = desk.ask("openalex/works?b=1&search=a", mode="replay")
        assert (again.status, again.body, again.headers["content-type"]) == (
            live.status,
            live.body,
            live.headers["content-type"],
        )
        assert again.sent.answered_at == live.sent.answered_at
        assert again.cost == live.cost
    assert desk.ask("openalex/works/W404", mode="replay").status == missing.status
    with pytest.raises(WorkLookupError) as replayed:
        desk.ask("openalex/works?search=down", mode="replay")
    assert (replayed.value.failure, replayed.value.reason) == (
        failed.value.failure,
        failed.value.reason,
    )
    assert len(desk.server.asked) == asked


def test_a_cached_answer_is_recorded_as_well(desk: Desk) -> None:
    desk.ask("openalex/works?search=a&b=1")
    desk.ask("openalex/works?search=a&b=1", mode="record")
    assert len(desk.server.asked) == 1
    file = next((desk.home / "recordings" / "openalex").glob("*.json"))
    kept = json.loads(file.read_text())
    assert kept["recorded"] == "2023-11-14T22:13:20+00:00"
    assert kept["status"] == 200
    assert kept["body"] == '{"results": [1]}'
    assert kept["request"]["url"].endswith("/openalex/works?search=a&b=1")


def test_without_a_recording_the_missing_request_is_named(desk: Desk) -> None:
    with pytest.raises(NotRecordedError) as caught:
        desk.ask("openalex/works?search=other", mode="replay", secret_params={"api_key": KEY})
    assert caught.value.failure == "not_recorded"
    assert "GET" in caught.value.reason
    assert "/works?search=other" in caught.value.reason
    assert "literature.mode = record" in caught.value.reason
    assert KEY not in caught.value.reason
    assert desk.server.asked == []


@needs_recordings
def test_replay_reads_the_shared_recordings_and_judges_them_as_live(tmp_path: Path) -> None:
    async def work(client: ServiceClient) -> None:
        packed = await client.ask(
            "openalex",
            "https://api.openalex.org/works/W2741809807",
            accept="application/json",
        )
        assert json.loads(packed.body)["id"] == "https://openalex.org/W2741809807"
        for address, failure in (("https://api.openalex.org/works/NOT-RECORDED", "not_recorded"),):
            with pytest.raises(WorkLookupError) as caught:
                await client.ask("openalex", address)
            assert caught.value.failure == failure

    with RecordedServices(folder=tmp_path) as server:
        Desk(tmp_path / "home", server).run(work, mode="replay", recordings=SERVICES_DATA)
        assert server.asked == []


def test_no_key_and_no_address_stays_anywhere(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    echo = json.dumps({"you": CONTACT, "low": CONTACT.lower(), "key": KEY, "results": [1]})
    headers = {"content-type": "application/json", "link": f"<http://x/?mailto={CONTACT}>"}
    desk.server.first += [(200, headers, echo.encode())] * 2 + [(500, {}, KEY.encode())] * 2
    governor = Governor(desk.home / "governor.db", lambda: desk.time)
    caplog.set_level(logging.DEBUG)
    secrets = {
        "secret_params": {"api_key": KEY, "mailto": CONTACT, "tool": "carrel"},
        "secret_headers": {"x-api-key": KEY},
    }
    for mode in ("live", "record"):
        for params in ({"search": mode}, {"search": mode, "mailto": CONTACT, "api_key": KEY}):
            answer = desk.ask(
                "openalex/works", mode=mode, params=params, governor=governor, **secrets
            )
            assert KEY.encode() not in answer.body
            assert KEY not in answer.sent.url
            assert "mailto" not in answer.sent.url
    with pytest.raises(WorkLookupError) as caught:
        desk.ask("openalex/works", mode="record", params={"q": "x"}, governor=governor, **secrets)
    sent = desk.server.asked[0]
    assert f"api_key={KEY}" in sent.path
    assert "mailto=Jane.Doe%40Uni-Example.org" in sent.path
    assert sent.headers["x-api-key"] == KEY
    assert CONTACT in sent.headers["user-agent"]
    everything = [caplog.text, str(caught.value), caught.value.reason, repr(caught.value)]
    files = [path for path in desk.home.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {".json", ".cached", ".db"}
    everything += [f"{path} {path.read_bytes()!r}" for path in files]
    for text in everything:
        for secret in (KEY, CONTACT, CONTACT.lower(), "jane.doe%40uni-example.org"):
            assert secret.lower() not in text.lower()


def test_the_same_request_from_many_at_once_leaves_one_whole_file(desk: Desk) -> None:
    async def many(client: ServiceClient) -> list[ServiceAnswer]:
        url = f"{desk.server.url('openalex')}/works?search=a&b=1"
        return await asyncio.gather(*(client.ask("openalex", url) for _ in range(20)))

    assert len({answer.body for answer in desk.run(many)}) == 1
    assert len(list((desk.home / "answers").iterdir())) == 1


@pytest.mark.parametrize(
    ("body", "is_kept"),
    [
        (b'{"results": []}', True),
        (b'{"error": null, "results": [1]}', True),
        (b'{"result": {"1": {"error": "cannot get document summary"}}}', True),
        (b'{"error": "backend failed"}', False),
        (b'{"errCode": 404, "errMsg": "No"}', False),
        (b'{"esearchresult": {"ERROR": "Search Backend failed"}}', False),
        (b"<eSearchResult><ERROR>Search Backend failed</ERROR></eSearchResult>", False),
        (b"<feed><entry><id>http://arxiv.org/api/errors#x</id></entry></feed>", False),
        (b"<feed><o:totalResults xmlns:o='x'>70</o:totalResults></feed>", False),
        (b"<feed><o:totalResults xmlns:o='x'>0</o:totalResults></feed>", True),
        (b"<feed><totalResults>7</totalResults><entry/></feed>", True),
    ],
)
def test_an_error_inside_of_a_200_is_given_and_not_kept(
    desk: Desk, body: bytes, is_kept: bool
) -> None:
    desk.server.first += [(200, {}, body)] * 2
    for _ in range(2):
        assert desk.ask("arxiv/x", accept="*/*").body == body
    assert len(desk.server.asked) == (1 if is_kept else 2)


def test_an_address_that_is_none_is_a_failure_like_others(desk: Desk) -> None:
    with pytest.raises(WorkLookupError, match="no URL"):
        desk.run(lambda client: client.ask("openalex", "http://[:::1]/x"))


def test_recordings_that_cannot_be_written_are_told(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotConfiguredError, match="Recordings cannot be written"):
        desk.ask(
            "openalex/works?search=a&b=1", mode="record", recordings=tmp_path / "file" / "folder"
        )


def test_whoever_goes_away_leaves_no_slot_taken(desk: Desk) -> None:
    governor = Governor(desk.home / "governor.db", lambda: desk.time)

    async def go_away(client: ServiceClient) -> None:
        url = f"{desk.server.url('openalex')}/works?search=a&b=1"
        for _ in range(20):
            asking = asyncio.create_task(client.ask("openalex", url, kind=AnswerKind.PROBE))
            await asyncio.sleep(0)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
        assert (await client.ask("openalex", url, kind=AnswerKind.PROBE)).status == 200

    desk.run(go_away, governor=governor)
