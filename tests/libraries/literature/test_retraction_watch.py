"""The Retraction Watch table is read as Crossref publishes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.libraries.literature.records import Notice
from carrel.libraries.literature.retraction_watch import (
    NotRetractionWatchError,
    ReinstatedRow,
    RetractionRow,
    SkippedRow,
    drop_reinstated,
    read_day,
    read_retraction_watch,
)

SAMPLE = (
    Path(__file__).parents[4]
    / "shared/data/services/dumps/retraction-watch/retraction_watch_20.csv"
)
HEADER = (
    "Record ID,Title,RetractionDate,RetractionDOI,RetractionPubMedID,OriginalPaperDOI,"
    "OriginalPaperPubMedID,RetractionNature,Reason"
)


def read(*lines: str) -> list[RetractionRow | ReinstatedRow | SkippedRow]:
    return list(read_retraction_watch([f"{line}\n" for line in (HEADER, *lines)]))


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "Record ID,Title\n1,x\n"])
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(NotRetractionWatchError):
        list(read_retraction_watch(text.splitlines(keepends=True)))


def test_rows_that_name_no_work_are_passed_over_with_the_reason() -> None:
    found = read(
        "1,T,7/12/2023 0:00,10.1/N,5,Unavailable,0,Retraction,+Fake;",
        "2,T,7/12/2023 0:00,10.1/N,5,unavailable,0.0,Retraction,+Fake;",
        "3,T,7/12/2023 0:00,10.1/N,5,10.1/a,0,Something new,+Fake;",
        '4,T,7/12/2023 0:00,10.1/N,5,"not a doi",,Retraction,',
    )
    assert [type(each) for each in found] == [SkippedRow] * 4


def test_identifiers_dates_kinds_and_reasons_are_read() -> None:
    found = read(
        "56416,T,7/12/2023 0:00,10.1155/2023/X,37476288.0,https://doi.org/10.1155/2022/ABC,"
        "36035816.0,Retraction,+Paper Mill;+Unreliable Results;+Paper Mill;",
        "2,T,,Unavailable,0,Unavailable,12,Expression of concern,",
        "3,T,1/2/2020,unavailable,0,10.1000/x,0,Correction,+Error in Text;",
    )
    assert found == [
        RetractionRow(
            "56416",
            ("doi:10.1155/2022/abc", "pmid:36035816"),
            Notice(
                "retraction",
                "2023-07-12",
                "10.1155/2023/x",
                "37476288",
                ("Paper Mill", "Unreliable Results"),
                "retraction_watch",
            ),
        ),
        RetractionRow(
            "2",
            ("pmid:12",),
            Notice("expression_of_concern", None, None, None, (), "retraction_watch"),
        ),
        RetractionRow(
            "3",
            ("doi:10.1000/x",),
            Notice("correction", "2020-01-02", None, None, ("Error in Text",), "retraction_watch"),
        ),
    ]


def test_a_reinstated_work_has_no_earlier_notice() -> None:
    found = read(
        "1,T,1/1/2019 0:00,,,10.1000/x,0,Retraction,",
        "2,T,5/1/2020 0:00,,,10.1000/x,0,Reinstatement,",
        "3,T,6/1/2021 0:00,,,10.1000/x,0,Correction,",
        "4,T,1/1/2019 0:00,,,10.1000/y,0,Retraction,",
    )
    rows = [each for each in found if isinstance(each, RetractionRow)]
    back = [each for each in found if isinstance(each, ReinstatedRow)]
    assert [row.record for row in drop_reinstated(rows, back)] == ["3", "4"]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("7/12/2023 0:00", "2023-07-12"),
        ("12/31/1999", "1999-12-31"),
        ("2021-03-04T00:00:00", "2021-03-04"),
        ("1/2/98 0:00", "1998-01-02"),
        ("13/13/2020 0:00", None),
        ("", None),
        ("Unavailable", None),
    ],
)
def test_days_are_read_month_first(text: str, day: str | None) -> None:
    assert read_day(text) == day


@pytest.mark.skipif(not SAMPLE.is_file(), reason="the shared sample is not here")
def test_the_published_sample_is_read_whole() -> None:
    with SAMPLE.open(encoding="utf-8", newline="") as lines:
        found = list(read_retraction_watch(lines))
    assert len(found) == 20
    assert all(isinstance(each, RetractionRow) and each.notice.date for each in found)
    first = found[0]
    assert isinstance(first, RetractionRow)
    assert first.keys == ("doi:10.1155/2022/9172719", "pmid:36035816")
