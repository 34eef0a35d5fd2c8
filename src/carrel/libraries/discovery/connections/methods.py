"""Methods and model systems that the papers of the corpus name."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from carrel.libraries.discovery.concepts.words import (
    FUNCTION_WORDS,
    NEEDS_COMPANY,
    SAYS_LITTLE,
    normal_phrase,
)
from carrel.libraries.discovery.connections.candidates import Bench, TestMethod
from carrel.libraries.discovery.connections.sentences import ReadPaper
from carrel.libraries.discovery.goals.goal_language import is_population
from carrel.libraries.discovery.paths.literatures import Reader
from carrel.libraries.discovery.records import Kind, Sphere, Standing
from carrel.libraries.discovery.tuned import CONNECTIONS

_DATA = tomllib.loads(Path(__file__).with_name("methods.toml").read_text(encoding="utf-8"))
_METHOD_NAME = re.compile(
    rf"({'|'.join(_DATA['method_endings'])})$|^({'|'.join(_DATA['method_openings'])})\b"
)
_SETTING_NAME = re.compile(rf"\b({'|'.join(_DATA['setting_names'])})$")
_ORGANISMS = frozenset(_DATA["organisms"].split())


def is_method(reader: Reader, number: int) -> bool:
    """Whether a concept is a research method."""
    return reader.index.sphere(number) is Sphere.METHOD or bool(
        _METHOD_NAME.search(reader.index.key(number))
    )


def tells_nothing(reader: Reader, number: int) -> bool:
    """Whether a concept cannot be end or bridge: method, setting, organism, fragment or generic."""
    judged = reader.judged.get(number)
    if judged is None:
        judged = reader.judged[number] = _tells_nothing(reader, number)
    return judged


def _tells_nothing(reader: Reader, number: int) -> bool:
    index = reader.index
    is_named_so = is_method(reader, number) or any(
        _METHOD_NAME.search(form) for form in index.forms(number)[1:]
    )
    if is_named_so and (index.sphere(number) is Sphere.METHOD or reader.is_of_laboratory(number)):
        return True
    if is_population(index.key(number)) or index.key(number) in _known().statistics:
        return True
    if index.standing(number) is Standing.TERM:
        return False
    key = index.key(number)
    if _SETTING_NAME.search(key) and reader.is_of_laboratory(number):
        return True
    return _is_general(key) or index.is_fragment(number)


def _is_general(key: str) -> bool:
    words = key.lower().split(" ")
    if all(word in _ORGANISMS for word in words):
        return True
    return all(
        word in NEEDS_COMPANY or word in SAYS_LITTLE or word in FUNCTION_WORDS or word.isdigit()
        for word in words
    )


def is_class_name(key: str) -> bool:
    """Whether a name is of a whole class (`amino acid`, `blocker`), which nobody can test."""
    return key in _known().classes


def methods_in(reader: Reader, documents: Iterable[int], most: int) -> tuple[TestMethod, ...]:
    """The methods that some papers use, the most used first."""
    index = reader.index
    chosen = list(documents)
    counts = reader.counts(chosen)
    used = [(count, -number) for number, count in counts.items() if _is_done(reader, number)]
    found = []
    for count, minus_number in sorted(used, reverse=True)[:most]:
        holders = set(index.documents(-minus_number))
        ids = tuple(index.id_of(document) for document in chosen if document in holders)
        found.append(TestMethod(index.label(-minus_number), count, ids[:3]))
    return tuple(found)


def _is_done(reader: Reader, number: int) -> bool:
    if reader.index.sphere(number) is Sphere.METHOD:
        return True
    return reader.rank_of_kind(number) > 0 and is_method(reader, number)


SHOWN = 4
CITED = 3

_PEOPLE = frozenset({Kind.DISEASE, Kind.EXPOSURE, Kind.EVENT, Kind.BEHAVIOUR})


@dataclass(frozen=True)
class _Method:
    name: str
    spelt: re.Pattern[str]
    reads: frozenset[Kind]


@dataclass(frozen=True)
class System:
    """A model system: its name in a step, its keys in the index, and whether it is human."""

    name: str
    keys: tuple[str, ...]
    is_human: bool = False


@dataclass(frozen=True)
class _Known:
    """What `methods.toml` lists."""

    systems: tuple[System, ...]
    spelt: tuple[tuple[System, re.Pattern[str]], ...]
    methods: tuple[_Method, ...]
    life: re.Pattern[str]
    classes: frozenset[str]
    statistics: frozenset[str]


def _names(listed: str) -> frozenset[str]:
    return frozenset(map(normal_phrase, listed.split(",")))


@lru_cache(maxsize=1)
def _known() -> _Known:
    """The systems and methods of all fields, read once."""
    systems = tuple(
        System(one["name"], tuple(one["keys"]), one.get("is_human", False))
        for one in _DATA["system"]
    )
    methods = tuple(
        _Method(
            one["name"],
            re.compile(rf" ({one['spelt']}) "),
            frozenset(Kind) if "any" in one["reads"] else frozenset(map(Kind, one["reads"])),
        )
        for one in _DATA["method"]
    )
    words = "|".join(_DATA["life_science_words"].split())
    return _Known(
        systems,
        tuple((one, re.compile(rf" ({'|'.join(one.keys)}) ")) for one in systems),
        methods,
        re.compile(rf" ({words})(?= )"),
        _names(_DATA["class_names"]),
        _names(_DATA["statistics"]),
    )


class BenchReader:
    """Finds the model systems and methods of papers; cached by paper."""

    def __init__(self) -> None:
        self._read: dict[str, _Named] = {}

    def bench(self, papers: Iterable[ReadPaper]) -> Bench:
        """The systems and methods that some papers name, most used first, with those papers."""
        read = [(paper.paper.id, self._named(paper)) for paper in papers]
        return Bench(
            len(read),
            _used([(paper, named.systems) for paper, named in read]),
            _used([(paper, named.methods) for paper, named in read]),
            sum(named.is_of_life for _, named in read),
        )

    def _named(self, read: ReadPaper) -> "_Named":
        found = self._read.get(read.paper.id)
        if found is None:
            normal, known = read.normal, _known()
            methods = {method.name for method in known.methods if method.spelt.search(normal)}
            if "single-cell RNA sequencing" in methods:
                methods -= {"RNA sequencing"}
            named = [one for one in known.spelt if one[1].search(normal)]
            words = {word[1] for word in known.life.finditer(normal)}
            # `in mice` is where it was done; a mouse alone may be a computer's.
            places = {system.name for system, _ in named if _is_place(system, normal)}
            least = CONNECTIONS.life_words if len(read.sentences) > 1 else 1
            is_of_life = len(words) >= least or bool(places)
            systems = {
                system.name
                for system, _ in named
                if is_of_life or system.is_human or system.name in places
            }
            found = _Named(frozenset(systems), frozenset(methods), is_of_life)
            self._read[read.paper.id] = found
        return found


def _is_place(system: System, normal: str) -> bool:
    return not system.is_human and any(f" in {key} " in normal for key in system.keys)


@dataclass(frozen=True)
class _Named:
    """What one paper names."""

    systems: frozenset[str]
    methods: frozenset[str]
    is_of_life: bool


def reads_out(method: str, kind: Kind) -> bool:
    """Whether a known method can measure a thing of this kind."""
    return any(known.name == method and kind in known.reads for known in _known().methods)


def is_of_people(method: str) -> bool:
    """Whether a method is clinical or epidemiological, not a laboratory method."""
    return any(known.name == method and known.reads == _PEOPLE for known in _known().methods)


def is_known_method(name: str) -> bool:
    """Whether a name is one of the listed methods."""
    return any(known.name == name for known in _known().methods)


def same_method(label: str) -> str:
    """The canonical name of a method; the name itself where it is unknown."""
    normal = f" {label.lower().replace('-', ' ')} "
    return next((method.name for method in _known().methods if method.spelt.search(normal)), label)


def system_named(name: str) -> System | None:
    """A model system by the name steps give it."""
    return next((system for system in _known().systems if system.name == name), None)


def _used(named: Sequence[tuple[str, frozenset[str]]]) -> tuple[TestMethod, ...]:
    by_name: dict[str, list[str]] = {}
    for paper, names in named:
        for name in names:
            by_name.setdefault(name, []).append(paper)
    found = [TestMethod(name, len(ids), tuple(ids[:CITED])) for name, ids in by_name.items()]
    return tuple(sorted(found, key=lambda one: (-one.documents, one.label))[:SHOWN])
