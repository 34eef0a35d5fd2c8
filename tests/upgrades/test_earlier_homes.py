"""Every kept home of an earlier version opens with this code, and everything in it is found."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.upgrades.asking import ask_all, carrel

KEPT = sorted(Path(__file__).parent.glob("*.tar.xz"))


@pytest.fixture(params=KEPT, ids=lambda file: file.name.removesuffix(".tar.xz"))
def unpacked(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """The home as that version left it, and what that version answered."""
    with tarfile.open(request.param) as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path / "home", json.loads((tmp_path / "told.json").read_text())


@pytest.mark.promise("Q11")
def test_an_earlier_home_opens_and_all_of_it_is_found(
    unpacked: tuple[Path, dict[str, Any]],
) -> None:
    home, told = unpacked
    answered = ask_all(home)
    for room in answered:
        missing = list(_missing(told[room], answered[room], room))
        assert not missing, "\n".join(missing)


@pytest.mark.promise("Q11")
def test_the_audit_log_of_an_earlier_home_still_verifies(
    unpacked: tuple[Path, dict[str, Any]],
) -> None:
    home, _ = unpacked
    carrel(home, "users", "list")
    carrel(home, "audit", "verify")


@pytest.mark.promise("Q11")
def test_a_backup_of_an_earlier_home_restores_whole(
    unpacked: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    home, told = unpacked
    carrel(home, "backup", str(tmp_path / "desk.tar.gz"))
    second = tmp_path / "second"
    second.mkdir()
    carrel(second, "restore", str(tmp_path / "desk.tar.gz"))
    answered = ask_all(second)
    assert not [line for room in answered for line in _missing(told[room], answered[room], room)]


def _missing(told: Any, answered: Any, where: str) -> list[str]:
    """What was there and is not any more; a newer version may say more, never less."""
    if isinstance(told, dict) and isinstance(answered, dict):
        return [
            line
            for key in told
            for line in _missing(told[key], answered.get(key), f"{where}.{key}")
        ]
    if isinstance(told, list) and isinstance(answered, list) and len(told) == len(answered):
        pairs = zip(told, answered, strict=True)
        return [
            line
            for at, (one, other) in enumerate(pairs)
            for line in _missing(one, other, f"{where}[{at}]")
        ]
    return [] if told == answered else [f"{where}: was {told!r}, is {answered!r}"]
