"""The benchmarks run and print ratios; what they measure is never asserted."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.doors import cpu


@pytest.mark.promise("Q4")
def test_the_cost_of_a_request_is_printed_beside_its_peers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cpu, "ROUNDS", 1)
    monkeypatch.setattr(cpu, "REQUESTS", 2)
    cpu.run(tmp_path)
    printed = capsys.readouterr().out
    assert "of FastMCP" in printed
    assert printed.count("1/") == 4
