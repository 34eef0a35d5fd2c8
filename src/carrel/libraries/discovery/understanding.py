"""A goal's reading in plain words, so that a person sees at once whether it was understood."""

from carrel.libraries.discovery.goals import GoalReading
from carrel.libraries.discovery.index import ConceptIndex
from carrel.libraries.discovery.records import Kind
from carrel.libraries.discovery.wanted import ANSWERS

_PLURALS = {Kind.SUBSTANCE: "substances", Kind.GENE: "genes or proteins", Kind.PROCESS: "processes"}


def told(reading: GoalReading, index: ConceptIndex) -> str:
    """One paragraph: what is asked, of which names, what was not found and what was left aside."""
    start = f"{reading.start.label} ({_papers(len(reading.start.documents))})"
    if reading.end is not None:
        parts = [
            f"Read as: what joins {reading.end.label} ({_papers(len(reading.end.documents))}) "
            f"with {start}?"
        ]
    else:
        parts = [f"Read as: what may be connected to {start}?"]
    if reading.through is not None:
        parts.append(f"The way through {index.label(reading.through)} is looked at first.")
    if reading.wanted is not None:
        kinds = " and ".join(sorted(_PLURALS[kind] for kind in ANSWERS[reading.wanted]))
        of = "ways through" if reading.end is not None else "answers that are"
        parts.append(f"A {reading.wanted.value} is asked for, so {of} {kinds} come first.")
    if reading.missing:
        names = ", ".join(f"“{name.text}”" for name in reading.missing)
        near = [one for name in reading.missing for one in name.near]
        parts.append(
            f"Not in these papers, therefore left out: "
            f"{names}{' (near: ' + ', '.join(near) + ')' if near else ''}."
        )
    if reading.ignored:
        parts.append(f"Named, but not used: {', '.join(reading.ignored)}.")
    return " ".join((*parts, *reading.notes))


def _papers(count: int) -> str:
    return f"{count} paper{'' if count == 1 else 's'}"
