"""Pages of checks for retractions."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote

from carrel.cli.page import Fields, Item, Line, MakePage, Note, Page, Paragraph, Part, dim, strong
from carrel.cli.paper_names import notice_lines
from carrel.rooms.literature.retraction_models import NoticedWork, RetractionsChecked
from carrel.rooms.literature.retraction_operations import RetractionsLoaded


def _checked(answer: RetractionsChecked) -> Page:
    parts: list[Part] = [
        Item(f"{number}.", _work(work)) for number, work in enumerate(answer.works, start=1)
    ]
    parts.append(Paragraph(answer.message))
    if answer.left_out:
        parts.append(Note(f"{answer.left_out:,} more; --limit shows more."))
    failed = [each for each in answer.coverage if each.state == "failed"]
    parts += [Note(f"{each.service}: {each.reason}") for each in failed]
    if answer.table_loaded_at:
        parts.append(
            Note(
                f"Retraction Watch: {answer.table_records or 0:,} records, loaded "
                f"{answer.table_loaded_at[:10]}"
            )
        )
    return Page(tuple(parts), next_step="")


def _work(work: NoticedWork) -> list[Part]:
    known = f"doi:{work.doi}" if work.doi and work.doi != work.id else ""
    return [
        Line((strong(work.title or work.id),)),
        *notice_lines(work.notices),
        Line((dim(" · ".join(text for text in (work.id, known) if text)),)),
    ]


def _loaded(answer: RetractionsLoaded) -> Page:
    rows = [
        ("records", f"{answer.records:,}"),
        ("works named", f"{answer.keys:,} DOIs and PMIDs"),
        *((f"passed over: {reason}", f"{count:,}") for reason, count in answer.skipped.items()),
        ("file", quote(answer.file)),
    ]
    step = "carrel literature retractions check library checks your references."
    return Page((Fields(rows),), next_step=step)


RETRACTION_PAGES: Mapping[str, MakePage] = {
    "check_retractions": _checked,
    "load_retractions": _loaded,
}
