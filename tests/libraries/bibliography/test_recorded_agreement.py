"""Drawn entries are read as most other programs read them.

What the majority of six programs read was recorded by
`python -m benchmarks.import_judge.judge PEERS --seeds 0:60 --record FILE`; where we decided
otherwise (`DECIDED` there) nothing is recorded.
"""

import json
from pathlib import Path

import pytest

from benchmarks.import_judge import judge
from benchmarks.import_judge.draws import draw_values
from carrel.libraries.bibliography.bibtex.fields import TitleCase

RECORDED: dict[str, dict[str, str]] = json.loads(
    Path(judge.__file__).with_name("recorded.json").read_text(encoding="utf-8")
)


@pytest.mark.promise("L11")
@pytest.mark.parametrize("key", RECORDED)
def test_drawn_entries_are_read_as_the_majority_reads_them(key: str) -> None:
    draw = draw_values(int(key.removeprefix("v")))
    (item,) = judge.our_items(draw.text, TitleCase.AS_WRITTEN).values()
    ours = {
        name: judge.folded(name, judge.value_text(name, item.get(name))) for name in RECORDED[key]
    }
    assert ours == RECORDED[key]
