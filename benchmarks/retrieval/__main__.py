"""Prints all measurements in one run."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.retrieval import data
from benchmarks.retrieval.carrel_desk import (
    Built,
    CarrelDesk,
    fill,
    named,
    note_names,
    open_home,
    run_command,
    write_papers,
)
from benchmarks.retrieval.cluster import cluster_desk, compare, halves
from benchmarks.retrieval.data import Document, Question
from benchmarks.retrieval.measures import (
    Ask,
    Run,
    ask_all,
    mean_ndcg,
    mean_recall,
    share_within,
)
from benchmarks.retrieval.peers import Engine, build_peers, folder_bytes

SHARED = Path("../shared/data")
LABEL = 54
Name = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the data lie, and a folder for what is built."""

    data: Path
    beir: Path
    work: Path
    with_meaning: bool
    cluster: str | None = None


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval")
    parser.add_argument("beir", nargs="?", type=Path, help="a folder in BEIR layout")
    parser.add_argument("--data", type=Path, default=SHARED, help="notes, papers and libraries")
    parser.add_argument("--keep", type=Path, help="keep what was built here")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--without-meaning", action="store_true", help="no vectors")
    parser.add_argument("--cluster", metavar="URL", help="an Elasticsearch to compare with")
    given = parser.parse_args(arguments)
    work = given.keep or Path(tempfile.mkdtemp(prefix="carrel-retrieval-"))
    work.mkdir(parents=True, exist_ok=True)
    beir = given.beir or given.data / "retrieval" / "scifact"
    place = Place(given.data, beir, work, not given.without_meaning, given.cluster)
    try:
        for part in given.only:
            try:
                PARTS[part](place)
            except FileNotFoundError as error:
                print(f"\n{part}: not measured, {error.filename} is not there")
    finally:
        if given.keep is None:
            shutil.rmtree(work, ignore_errors=True)


def print_head(title: str, columns: Sequence[str]) -> None:
    print(f"\n{title}\n{'':{LABEL}}" + "".join(f"{column:>12}" for column in columns), flush=True)


def print_row(label: str, figures: Sequence[float], run: Run | None) -> None:
    """Qualities, and the milliseconds within which half and 95 in 100 were answered."""
    times = [] if run is None else [run.milliseconds(0.5), run.milliseconds(0.95)]
    print(
        f"{label:{LABEL}}"
        + "".join(f"{figure:12.3f}" for figure in figures)
        + "".join(f"{figure:12.1f}" for figure in times),
        flush=True,
    )


def print_cost(label: str, built: Engine | Built) -> None:
    print(
        f"    {label}: built {built.documents_per_second:,.0f} a second, "
        f"{built.size_bytes / 1e6:,.1f} MB",
        flush=True,
    )


def measure_judged(place: Place) -> None:
    """nDCG@10 and recall@100 on abstracts with judgements."""
    judged = data.read_beir(place.beir)
    if not judged.documents:
        raise FileNotFoundError(2, "", str(place.beir / "corpus.jsonl"))
    title = f"Judged abstracts ({place.beir.name}): {len(judged.documents):,} documents"
    print_head(
        f"{title}, {len(judged.questions):,} questions",
        ["nDCG@10", "recall@100", "p50 ms", "p95 ms"],
    )

    def show(label: str, run: Run) -> None:
        figures = [mean_ndcg(run, judged.wanted), mean_recall(run, judged.wanted)]
        print_row(label, figures, run)

    engines = list(build_peers(judged.documents, place.work / "judged-peers"))
    for engine in engines:
        show(engine.label, ask_all(engine.ask, judged.questions))
    home = place.work / "judged-home"
    source = place.work / "judged.jsonl"
    write_papers(judged.documents, source)
    arguments = ("papers", "build", source, "--quiet")
    built = fill(home, len(judged.documents), home / "papers", *arguments)
    with open_home(home) as desk:
        show("Carrel, search_papers", ask_papers(desk, judged.questions))
    if place.with_meaning:
        measure_meaning(home, judged, lambda run: show("Carrel with vectors", run))
    for engine in engines:
        print_cost(engine.label, engine)
    print_cost(f"Carrel (input {source.stat().st_size / 1e6:,.1f} MB)", built)


def measure_meaning(home: Path, judged: data.Judged, show: Callable[[Run], None]) -> None:
    """The same with the extra `semantic`, or why not."""
    try:
        from carrel.services.sentence_vectors.minilm import model_folder

        missing = "" if model_folder() is not None else "the model is not installed"
    except ImportError as error:
        missing = f"{error.name} is not installed"
    if missing:
        print(f"{'Carrel with vectors':{LABEL}} not measured: {missing}")
        return
    start = time.perf_counter()
    run_command("papers", "index", "--meaning", "--home", home)
    seconds = time.perf_counter() - start
    print(f"    vectors: {len(judged.documents) / seconds:,.0f} abstracts a second")
    with open_home(home) as desk:
        show(ask_papers(desk, judged.questions))


def ask_papers(desk: CarrelDesk, questions: Sequence[str]) -> Run:
    run = ask_all(desk.search_papers, questions)
    run.answers = named(run.answers, desk.name_paper)
    return run


def measure_known_items(place: Place) -> None:
    """Sentences of full texts, whole and seven words of them."""
    documents = full_texts(place)
    whole, short = data.known_items(documents)
    print_head(
        f"Known items: {len(whole)} sentences of {len(documents)} full texts",
        ["whole 1st", "in ten", "7 words 1st", "in ten", "p50 ms", "p95 ms"],
    )

    def show(label: str, ask: Ask, name: Name = str) -> None:
        run, figures = Run(), list[float]()
        for questions in (whole, short):
            once = ask_all(ask, [question.text for question in questions])
            once.answers = named(once.answers, name)
            right = [question.right for question in questions]
            figures += [share_within(once, right, 1), share_within(once, right, 10)]
            run.seconds += once.seconds
        print_row(label, figures, run)

    engines = list(build_peers(documents, place.work / "texts-peers"))
    for engine in engines:
        show(engine.label, engine.ask)
    home, built = papers_home(place, documents)
    with open_home(home) as desk:
        show("Carrel, search_papers", desk.search_papers, desk.name_paper)
        if desk.has("find_passages"):
            show("Carrel, find_passages", desk.find_passages, desk.name_paper)
        else:
            print_missing("Carrel, find_passages")
    for engine in engines:
        print_cost(engine.label, engine)
    size = folder_bytes(place.work / "texts")
    print_cost(f"Carrel, everything on disk (input {size / 1e6:,.1f} MB)", built)


def print_missing(label: str) -> None:
    print(f"{label:{LABEL}} not there yet")


def measure_notes(place: Place) -> None:
    """Questions over notes, one right note each, for each half."""
    folder = note_folder(place)
    documents = data.read_notes(folder)
    halves = {half: data.note_questions(half) for half in ("a", "b")}
    print_head(
        f"Notes: {len(documents):,} notes, {len(halves['a'])} and {len(halves['b'])} questions",
        ["half A 1st", "in three", "half B 1st", "in three", "p50 ms", "p95 ms"],
    )

    def show(label: str, ask: Ask, name: Name = str) -> None:
        print_row(label, *measure_places(halves.values(), ask, name, (1, 3)))

    engines = list(build_peers(documents, place.work / "notes-peers"))
    for engine in engines:
        show(engine.label, engine.ask)
    home = place.work / "notes-home"
    built = fill(home, len(documents), home, "knowledge", "import", folder)
    names = note_names(home, place.work / "notes-export")
    with open_home(home) as desk:
        show("Carrel, search_knowledge", desk.search_notes, lambda found: names.get(found, found))
        measure_typos(desk)
    for engine in engines:
        print_cost(engine.label, engine)
    print_cost("Carrel, whole home", built)


def measure_typos(desk: CarrelDesk) -> None:
    """Slips of the keyboard: is the word that was meant suggested?"""
    rows = data.read_questions("typos")
    said = 0
    for row in rows:
        answer = json.dumps(desk.call("search_knowledge", query=str(row["question"])))
        said += str(row["meant"]).lower() in answer.lower()
    print(f"    slips of the keyboard: the word meant is in {said} of {len(rows)} answers")


def measure_places(
    sets: Iterable[Sequence[Question]], ask: Ask, name: Name, depths: Sequence[int]
) -> tuple[list[float], Run]:
    """How often a right thing stood within each depth, for each set of questions."""
    together, figures = Run(), list[float]()
    for questions in sets:
        run = ask_all(ask, [question.text for question in questions])
        run.answers = named(run.answers, name)
        right = [question.right for question in questions]
        figures += [share_within(run, right, depth) for depth in depths]
        together.seconds += run.seconds
    return figures, together


def measure_references(place: Place) -> None:
    """Questions over three libraries read as one."""
    items = data.read_library(place.data, data.LIBRARIES)
    documents = data.describe_items(items)
    questions = data.reference_questions()
    print_head(
        f"References: {len(items):,} items, {len(questions)} questions",
        ["first", "in three", "p50 ms", "p95 ms"],
    )
    engines = list(build_peers(documents, place.work / "references-peers"))
    for engine in engines:
        print_row(engine.label, *measure_places([questions], engine.ask, str, (1, 3)))
    library = place.work / "library.json"
    library.write_text(json.dumps(items), encoding="utf-8")
    with open_home(place.work / "references-home", library) as desk:
        start = time.perf_counter()
        desk.search_references("gene")
        seconds = time.perf_counter() - start
        figures, run = measure_places([questions], desk.search_references, str, (1, 3))
        print_row("Carrel, search_references", figures, run)
    for engine in engines:
        print_cost(engine.label, engine)
    print(f"    Carrel: the first search of a new library took {seconds:.2f} s")


def measure_desk(place: Place) -> None:
    """Questions whose answer lies in one or two rooms."""
    questions = data.desk_questions()
    papers = full_texts(place)
    folder = note_folder(place)
    items = data.read_library(place.data, [data.DESK_LIBRARY])
    rooms = {
        "papers": papers,
        "references": data.describe_items(items),
        "knowledge": data.read_notes(folder),
    }
    documents = [
        Document(f"{room}:{document.name}", document.title, document.text)
        for room, found in rooms.items()
        for document in found
    ]
    print_head(
        f"Desk: {len(documents):,} things in three rooms, {len(questions)} questions",
        ["first", "in three", "p50 ms", "p95 ms"],
    )
    for engine in build_peers(documents, place.work / "desk-peers"):
        label = f"{engine.label}, one table"
        print_row(label, *measure_places([questions], engine.ask, str, (1, 3)))
    home, _ = papers_home(place, papers)
    library = place.work / "desk-library.json"
    library.write_text(json.dumps(items), encoding="utf-8")
    with open_home(home, library) as desk:
        if not desk.has("search_desk"):
            print_missing("Carrel, search_desk")
            return
    run_command("knowledge", "import", folder, "--home", home)
    names = note_names(home, place.work / "desk-export")
    with open_home(home, library) as desk:

        def name(found: str) -> str:
            room, thing = found.split(":", 1)
            match room:
                case "papers":
                    thing = desk.name_paper(thing)
                case "knowledge":
                    thing = names.get(thing, thing)
            return f"{room}:{thing}"

        print_row(
            "Carrel, search_desk", *measure_places([questions], desk.search_desk, name, (1, 3))
        )


def full_texts(place: Place) -> list[Document]:
    folder = place.work / "texts"
    if not folder.exists():
        data.unpack(place.data / "papers" / "elife_fulltext_md.tar.xz", folder)
    return data.read_full_texts(folder / "elife_md")


def papers_home(place: Place, documents: Sequence[Document]) -> tuple[Path, Built]:
    """A home with the full texts; built anew for each part that changes it."""
    home = place.work / "texts-home"
    if home.exists():
        return home, Built(0, folder_bytes(home / "papers"))
    source = place.work / "texts"
    built = fill(home, len(documents), home / "papers", "papers", "build", source, "--quiet")
    return home, built


def note_folder(place: Place) -> Path:
    """Both collections in one folder, Markdown only."""
    folder = place.work / "notes"
    if not folder.exists():
        for archive in sorted((place.data / "notes").glob("*.tar.xz")):
            data.unpack(archive, folder)
        if not folder.exists():
            raise FileNotFoundError(2, "", str(place.data / "notes"))
    return folder


def measure_cluster(place: Place) -> None:
    """Judged abstracts in a cluster, beside the embedded index, on two halves of the questions."""
    if place.cluster is None:
        print("\ncluster: not measured, --cluster names no Elasticsearch")
        return
    judged = data.read_beir(place.beir)
    home = place.work / "judged-home"
    if not home.exists():
        source = place.work / "judged.jsonl"
        write_papers(judged.documents, source)
        run_command("papers", "build", source, "--quiet", "--home", home)
    title = f"Cluster ({place.beir.name}): {len(judged.documents):,} documents"
    with (
        open_home(home) as embedded,
        cluster_desk(place.cluster, home, place.work / "empty-home") as (desk, seconds),
    ):
        print_head(title, ["nDCG@10", "recall@100", "p50 ms", "p95 ms"])
        for half in halves(judged.questions, judged.wanted):
            compare(embedded, desk, half, print_row)
        print(f"    filled: {len(judged.documents) / seconds:,.0f} abstracts a second")


PARTS: Mapping[str, Callable[[Place], None]] = {
    "judged": measure_judged,
    "known-items": measure_known_items,
    "notes": measure_notes,
    "references": measure_references,
    "desk": measure_desk,
    "cluster": measure_cluster,
}


if __name__ == "__main__":
    main(sys.argv[1:])
