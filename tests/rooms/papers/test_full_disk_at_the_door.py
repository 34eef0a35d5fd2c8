"""Handing in a paper while the disk is full is refused as that, and leaves no half file."""

from __future__ import annotations

import http.client
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from carrel.settings import Settings
from carrel.stores.static_folder import write_whole
from tests.journeys.doors import serving
from tests.stores.small_disk import small_disk

pytestmark = pytest.mark.promise("P12")


def add(port: int, text: str) -> tuple[int, dict[str, Any]]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as talk:
        body = json.dumps({"tool_name": "add_paper", "params": {"markdown": text}})
        talk.request("POST", "/mcp/invoke", body, {"content-type": "application/json"})
        answer = talk.getresponse()
        return answer.status, json.loads(answer.read())


def test_a_full_disk_is_told_as_full_and_the_next_try_adds_the_paper(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "24M") as disk:
        home = disk.folder / "home"
        settings = Settings.model_validate({"home": home, "audit": {"enabled": False}})
        text = "# Whales\n\n" + "Whales sing in spring and dive for squid. " * 2_000
        with serving(settings) as port:
            assert add(port, "# Squid\n\nSquid do not sing.\n")[0] == 200
            disk.fill()
            status, answer = add(port, text)
            assert (status, answer["error_type"]) == (507, "storage_full"), answer
            assert answer["error_id"] and "Free some space" in answer["recovery_suggestions"][0]
            disk.empty()
            assert add(port, text)[0] == 200


def test_what_could_be_written_in_part_alone_is_not_put_in_place(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "1M") as disk:
        target = disk.folder / "paper.md"
        write_whole(target, b"old")
        with pytest.raises(OSError, match="No space"):
            write_whole(target, b"x" * (2 << 20))
        assert target.read_bytes() == b"old"
        assert [path.name for path in disk.folder.iterdir()] == ["paper.md"]
