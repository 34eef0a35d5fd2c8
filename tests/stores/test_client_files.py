"""Files of other programs: what comes back byte for byte, and what happens while others write."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from carrel.core.errors import CarrelError, ConflictError
from carrel.libraries.configuration import UnreadableTextError, file_format
from carrel.stores.client_files import Change, ClientFile, ConfigurationUnreadableError
from tests.libraries.configuration.texts import jsonc_texts, toml_texts, yaml_texts

ENTRY = {"command": "/opt/carrel", "args": ["mcp"]}
KEYS = {"jsonc": "mcpServers", "toml": "mcp_servers", "yaml": "extensions"}
TEXTS = st.one_of(
    jsonc_texts("mcpServers").map(lambda text: ("jsonc", text)),
    toml_texts().map(lambda text: ("toml", text)),
    yaml_texts("extensions").map(lambda text: ("yaml", text)),
)


def put_entry(
    file: ClientFile, path: tuple[str, ...], entry: Mapping[str, Any], replace: bool = False
) -> Change:
    return file.put_entry(
        path, entry, replace=replace, is_same=lambda found: found == entry, describe=str
    )


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.booleans())
def test_what_was_written_and_taken_out_leaves_the_file_byte_for_byte(
    text: tuple[str, str], has_bom: bool
) -> None:
    name, content = text
    try:
        file_format(name).parse(content)
    except UnreadableTextError:
        assume(False)
    original = (b"\xef\xbb\xbf" if has_bom else b"") + content.encode()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "settings"
        place.write_bytes(original)
        file = ClientFile(place, name, Path(folder) / "locks")
        path = (KEYS[name], "carrel")
        try:
            assert put_entry(file, path, ENTRY) is Change.ADDED
        except ConfigurationUnreadableError:
            # Only what cannot be changed in place is refused, and then it is left alone.
            assert place.read_bytes() == original
            return
        assert file.entry(path) == ENTRY
        assert put_entry(file, path, ENTRY) is Change.ALREADY_THERE
        file.take(path)
        assert place.read_bytes() == original


@pytest.mark.parametrize("name", ["jsonc", "toml", "yaml"])
@pytest.mark.parametrize("has_file", [True, False])
def test_a_replaced_entry_is_gone_once_it_is_taken_out(
    tmp_path: Path, name: str, has_file: bool
) -> None:
    place, path = tmp_path / "settings", (KEYS[name], "carrel")
    if has_file:
        place.write_text(
            file_format(name).put_entry("", path, {"command": "by hand"}), encoding="utf-8"
        )
    file = ClientFile(place, name, tmp_path / "locks")
    for number in range(3):
        put_entry(file, path, {"command": f"carrel-{number}", "args": []}, replace=True)
    file.take(path)
    assert file.entry(path) is None


@pytest.mark.parametrize("name", ["jsonc", "toml", "yaml"])
def test_a_file_that_only_carrel_wrote_leaves_nothing_behind(tmp_path: Path, name: str) -> None:
    place, path = tmp_path / "settings", (KEYS[name], "carrel")
    file = ClientFile(place, name, tmp_path / "locks")
    for _ in range(2):
        put_entry(file, path, {**ENTRY, "env": {"TOKEN": "secret"}})
        file.take(path)
        assert [found.name for found in tmp_path.iterdir()] == ["locks"]


def test_what_was_there_before_a_replacement_is_kept(tmp_path: Path) -> None:
    place, path = tmp_path / "settings", (KEYS["jsonc"], "carrel")
    by_hand = file_format("jsonc").put_entry("", path, {"command": "by hand"})
    place.write_text(by_hand, encoding="utf-8")
    file = ClientFile(place, "jsonc", tmp_path / "locks")
    put_entry(file, path, ENTRY, replace=True)
    file.take(path)
    assert not place.exists()
    assert file.kept_original.read_text(encoding="utf-8") == by_hand


def test_what_a_client_writes_in_between_is_not_lost(tmp_path: Path) -> None:
    place = tmp_path / "mcp.json"
    place.write_text(json.dumps({"mcpServers": {"carrel": {"command": "old"}}}))
    file = ClientFile(place, "json", tmp_path / "locks")
    looks: list[object] = []

    def change_meanwhile(found: object) -> bool:
        looks.append(found)
        if len(looks) == 1:
            place.write_text(json.dumps({"theirs": 1, "mcpServers": {"carrel": found}}))
        return False

    file.put_entry(
        ("mcpServers", "carrel"), ENTRY, replace=True, is_same=change_meanwhile, describe=str
    )
    assert len(looks) == 2
    assert json.loads(place.read_text()) == {"theirs": 1, "mcpServers": {"carrel": ENTRY}}


def test_a_client_that_never_stops_writing_is_an_error(tmp_path: Path) -> None:
    place = tmp_path / "mcp.json"
    place.write_text(json.dumps({"mcpServers": {"carrel": {"command": "old"}}}))
    file = ClientFile(place, "json", tmp_path / "locks")
    counter = iter(range(1000))

    def always_change(found: object) -> bool:
        values = {"turn": next(counter), "mcpServers": {"carrel": {"command": "old"}}}
        place.write_text(json.dumps(values))
        return False

    with pytest.raises(ConflictError, match="another program"):
        file.put_entry(
            ("mcpServers", "carrel"), ENTRY, replace=True, is_same=always_change, describe=str
        )
    assert json.loads(place.read_text())["mcpServers"] == {"carrel": {"command": "old"}}


def test_a_file_too_large_to_be_a_configuration_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "mcp.json"
    with place.open("wb") as stream:
        stream.truncate(17 * 1024 * 1024)
    with pytest.raises(CarrelError, match="larger"):
        put_entry(ClientFile(place, "json", tmp_path / "locks"), ("mcpServers", "carrel"), ENTRY)


def test_no_part_of_a_write_is_left_where_the_disk_refuses(tmp_path: Path) -> None:
    folder = tmp_path / "client"
    folder.mkdir()
    place = folder / "mcp.json"
    place.mkdir()
    with pytest.raises(OSError):
        put_entry(ClientFile(place, "json", tmp_path / "locks"), ("mcpServers", "carrel"), ENTRY)
    assert [found.name for found in folder.iterdir()] == ["mcp.json"]
