"""Methods and model systems that the papers of the corpus name."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from carrel.libraries.discovery.concepts.vocabulary import Sphere
from carrel.libraries.discovery.concepts.words import (
    FUNCTION_WORDS,
    NEEDS_COMPANY,
    SAYS_LITTLE,
)
from carrel.libraries.discovery.connections.candidates import Bench, TestMethod
from carrel.libraries.discovery.connections.naming import ReadPaper
from carrel.libraries.discovery.paths.literatures import Reader
from carrel.libraries.discovery.records import Kind, Standing

_METHOD_NAME = re.compile(
    r"(graphy|metry|scopy|assay|blot|blotting|sequencing|imaging|screen|screening|microscopy|knockout|knockdown|crispr|cas9|clamp"
    r"|optogenetic|chemogenetic|culture|trial|simulation|modeling|modelling|electrophysiology|recording|spectroscopy"
    r"|crystallography|tomography|transplantation|biopsy|immunoprecipitation|seq|fmri|mri|eeg|meg|emg|pcr|elisa|staining|cytometry"
    r"|omic|meta analysi|double blind method|in vitro technique|animal "
    r"model|randomization|association study|association studies"
    r"|gwa|gwas|learning "
    r"algorithm|algorithm|software|toolbox|pipeline|statistic|estimation|regression|deep learning"
    r"|machine learning|neural network model|computational model|mathematical "
    r"model|docking|mutagenesis|labeling|tracing|tracking"
    r"|genome editing|gene editing|dissection|transfection|(?<!signal )transduction "
    r"system|fret|cryo em|mass spec)$"
    r"|^(cryo|single cell|in silico|in vitro|in vivo|ex vivo|high throughput|genome wide|x "
    r"ray|whole genome|(opto|chemo)genetic(ally)?|genetically)\b"
)

# Where something was looked at, and by whom it was counted, is not how it works.
_SETTING_NAME = re.compile(
    r"\b(project|biobank|cohort|consortium|database|dataset|atlas|registry|initiative|repository|census|questionnaire|survey"
    r"|institute|institute of "
    r"health|university|foundation|ministry|grant|discovery|research|publishing|education|policy"
    r"|public health|reproducibility|model "
    r"organism|model|study|experiment|population|pandemic|outbreak"
    r"|biology|neuroscience|medicine|epidemiology|ecology|anthropology|psychology"
    r"|transcriptome|proteome|metabolome|genome|exome|epigenome|connectome|interactome|phenome)$"
)
_ORGANISM_WORDS = """
mouse rat human man woman child adult infant patient monkey macaque primate dog cat pig rabbit sheep
cow cattle horse goat
chicken zebrafish frog xenopus fly fruitfly drosophila worm nematode caenorhabditis yeast
saccharomyces bacterium escherichia
arabidopsis plant animal vertebrate invertebrate mammal rodent insect bird
"""
_ORGANISMS = frozenset(_ORGANISM_WORDS.split())


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
    if is_method(reader, number) or any(
        _METHOD_NAME.search(form) for form in index.forms(number)[1:]
    ):
        return True
    if index.standing(number) is Standing.TERM:
        return False
    key = index.key(number)
    return bool(_SETTING_NAME.search(key)) or _is_general(key) or index.is_fragment(number)


def _is_general(key: str) -> bool:
    words = key.lower().split(" ")
    if all(word in _ORGANISMS for word in words):
        return True
    return all(
        word in NEEDS_COMPANY or word in SAYS_LITTLE or word in FUNCTION_WORDS or word.isdigit()
        for word in words
    )


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

_MOLECULES = frozenset({Kind.GENE, Kind.PROCESS, Kind.CELL, Kind.ANATOMY})
_PEOPLE = frozenset({Kind.DISEASE, Kind.EXPOSURE, Kind.EVENT, Kind.BEHAVIOUR})


@dataclass(frozen=True)
class _Method:
    name: str
    spelt: re.Pattern[str]
    reads: frozenset[Kind]


def _method(name: str, spelt: str, *reads: Kind | frozenset[Kind]) -> _Method:
    kinds = frozenset(
        kind for one in reads for kind in (one if isinstance(one, frozenset) else (one,))
    )
    return _Method(name, re.compile(rf" ({spelt}) "), kinds)


@dataclass(frozen=True)
class System:
    """A model system: its name in a step, its keys in the index, and whether it is human."""

    name: str
    keys: tuple[str, ...]
    is_human: bool = False


SYSTEMS = (
    System("mice", ("mouse", "murine")),
    System("rats", ("rat",)),
    System("zebrafish", ("zebrafish", "danio rerio")),
    System("fruit flies", ("drosophila", "d melanogaster", "drosophila melanogaster", "fruit fly")),
    System("nematode worms", ("c elegan", "caenorhabditis elegan", "nematode")),
    System("budding yeast", ("s cerevisiae", "saccharomyces cerevisiae", "budding yeast", "yeast")),
    System(
        "monkeys",
        ("macaque", "rhesus macaque", "monkey", "rhesu monkey", "nonhuman primate", "marmoset"),
    ),
    System("frogs", ("xenopu", "xenopus", "xenopus laevi", "frog")),
    System("chick embryos", ("chick embryo", "chicken embryo", "chicken", "chick")),
    System("pigs", ("pig", "swine")),
    System("rabbits", ("rabbit",)),
    System("songbirds", ("songbird", "zebra finch")),
    System("thale cress", ("arabidopsi", "arabidopsis", "a thaliana", "arabidopsis thaliana")),
    System("Escherichia coli", ("e coli", "escherichia coli")),
    System("organoids", ("organoid",)),
    System(
        "human cell lines",
        (
            "hela cell",
            "hek293",
            "hek293 cell",
            "hek293t cell",
            "human cell line",
            "cancer cell line",
        ),
    ),
    System(
        "cultured primary cells",
        ("primary culture", "primary neuron", "cultured neuron", "cultured cell", "primary cell"),
    ),
    System(
        "stem-cell-derived cells", ("ipsc", "pluripotent stem cell", "embryonic stem cell", "hipsc")
    ),
    System(
        "people",
        (
            "human",
            "patient",
            "participant",
            "volunteer",
            "cohort",
            "child",
            "adult",
            "woman",
            "man",
        ),
        is_human=True,
    ),
)
_SPELT = tuple((system, re.compile(rf" ({'|'.join(system.keys)}) ")) for system in SYSTEMS)

METHODS = (
    _method("single-cell RNA sequencing", r"(single cell|sc|snrna|scrna|single nucleus) ?(rna)? "
r"?(seq|sequencing|transcriptomics?)", Kind.CELL,
            Kind.GENE, Kind.PROCESS, Kind.ANATOMY),
    _method("RNA sequencing", r"rna (seq|sequencing)|rnaseq|transcriptomics?|transcriptome( "
r"(analysi|profiling|sequencing))?", _MOLECULES),
    _method("chromatin profiling", r"(chip|atac) seq|chromatin immunoprecipitation", Kind.GENE, Kind.PROCESS),  # noqa: E501
    _method("mass spectrometry", r"mass spectrometry|proteomics?|proteome", Kind.GENE, Kind.SUBSTANCE, Kind.PROCESS),  # noqa: E501
    _method("metabolomics", r"metabolomics?|lipidomics?|metabolite profiling", Kind.SUBSTANCE, Kind.PROCESS),  # noqa: E501
    _method("flow cytometry", r"flow cytometry|facs", Kind.CELL),
    _method("immunoblotting", r"(western|immuno) ?blot(ting)?", Kind.GENE),
    _method("immunostaining", r"immunohistochemistry|immunofluorescence|immunostaining|immunocytochemistry|histology", Kind.GENE, Kind.CELL,  # noqa: E501
            Kind.ANATOMY, Kind.DISEASE),
    _method("quantitative PCR", r"(rt )?q?pcr|quantitative pcr", Kind.GENE, Kind.ORGANISM),
    _method("live imaging", r"(live|time lapse|intravital|in vivo|two photon|confocal) (cell "
r")?(imaging|microscopy)", Kind.CELL, Kind.PROCESS,
            Kind.ANATOMY, Kind.ORGANISM),
    _method("calcium imaging", r"calcium imaging", Kind.CELL, Kind.ANATOMY, Kind.PROCESS),
    _method("electrophysiological recording", r"(patch|voltage|current) "
r"clamp|electrophysiolog\w+|(whole "
r"cell|extracellular|intracellular"
            r"|single unit) recording|neuropixel|electrode recording", Kind.CELL, Kind.PROCESS, Kind.ANATOMY),  # noqa: E501
    _method("functional MRI", r"fmri|functional (magnetic resonance imaging|mri)", Kind.BEHAVIOUR),
    _method("structural MRI", r"mri|magnetic resonance imaging", Kind.ANATOMY, Kind.DISEASE),
    _method("EEG or MEG", r"(m )?eeg|meg|electroencephalograph?y|magnetoencephalograph?y", Kind.BEHAVIOUR, Kind.PROCESS),  # noqa: E501
    _method("behavioural testing", r"behavioral "
r"(test|assay|task|experiment|testing)|psychophysics?", Kind.BEHAVIOUR),
    _method("16S or metagenomic sequencing", r"16s( rrna)?( sequencing)?|metagenomics?", Kind.ORGANISM),  # noqa: E501
    _method("whole-genome sequencing", r"whole genome sequencing|genome sequencing", Kind.ORGANISM, Kind.GENE),  # noqa: E501
    _method("growth and killing assays", r"(minimum inhibitory concentration|time kill|growth) "
r"(assay|curve)?", Kind.ORGANISM),
    _method("cryo-electron microscopy", r"cryo ?em|cryo electron microscopy", Kind.GENE),
    _method("electron microscopy", r"electron microscopy", Kind.ANATOMY, Kind.CELL),
    _method("genome-wide association", r"gwa|gwas|genome wide association( study)?"),
    _method("Mendelian randomisation", r"mendelian randomization", _PEOPLE),
    _method("a randomised trial", r"(randomized|randomised|controlled|clinical) trial", _PEOPLE),
    _method("a cohort study", r"(prospective|longitudinal|birth|retrospective|population) "
r"cohort|cohort study|(longitudinal|prospective) study",
            _PEOPLE),
    _method("a case-control study", r"case control( study)?", _PEOPLE),
    _method("CRISPR editing", r"crispr( cas ?9)?|cas9|genome editing"),
    _method("RNA interference", r"rnai|rna interference|sirna|shrna|knockdown|knocked down"),
    _method("knockout animals", r"knockout|knock out|null mutant|deletion mutant|deficient mouse"),
    _method("optogenetics", r"optogenetics?|optogenetic\w+"),
    _method("chemogenetics", r"chemogenetics?|dreadd"),
)  # fmt: skip


class BenchReader:
    """Finds the model systems and methods of papers; cached by paper."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[frozenset[str], frozenset[str]]] = {}

    def bench(self, papers: Iterable[ReadPaper]) -> Bench:
        """The systems and methods that some papers name, most used first, with those papers."""
        read = [(paper.paper.id, *self._named(paper)) for paper in papers]
        systems = _used([(paper, systems) for paper, systems, _ in read])
        return Bench(len(read), systems, _used([(paper, methods) for paper, _, methods in read]))

    def _named(self, read: ReadPaper) -> tuple[frozenset[str], frozenset[str]]:
        known = self._known.get(read.paper.id)
        if known is None:
            normal = read.normal
            systems = frozenset(system.name for system, spelt in _SPELT if spelt.search(normal))
            methods = frozenset(method.name for method in METHODS if method.spelt.search(normal))
            if "single-cell RNA sequencing" in methods:
                methods -= {"RNA sequencing"}
            known = self._known[read.paper.id] = systems, methods
        return known


def reads_out(method: str, kind: Kind) -> bool:
    """Whether a known method can measure a thing of this kind."""
    return any(known.name == method and kind in known.reads for known in METHODS)


def is_of_people(method: str) -> bool:
    """Whether a method is clinical or epidemiological, not a laboratory method."""
    return any(known.name == method and known.reads == _PEOPLE for known in METHODS)


def same_method(label: str) -> str:
    """The canonical name of a method; the name itself where it is unknown."""
    normal = f" {label.lower().replace('-', ' ')} "
    return next((method.name for method in METHODS if method.spelt.search(normal)), label)


def system_named(name: str) -> System | None:
    """A model system by the name steps give it."""
    return next((system for system in SYSTEMS if system.name == name), None)


def _used(named: Sequence[tuple[str, frozenset[str]]]) -> tuple[TestMethod, ...]:
    by_name: dict[str, list[str]] = {}
    for paper, names in named:
        for name in names:
            by_name.setdefault(name, []).append(paper)
    found = [TestMethod(name, len(ids), tuple(ids[:CITED])) for name, ids in by_name.items()]
    return tuple(sorted(found, key=lambda one: (-one.documents, one.label))[:SHOWN])
