"""The semantic type of a concept, from its name, its context and the index."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import log1p

from carrel.libraries.discovery.records import Concept, Concepts, Kind
from carrel.libraries.discovery.tuned import KINDS

# Tried in this order on the normal form of a name; only endings and general words, never the name
# of one thing.
_FORMS: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"\b({words})$|({endings})$"))
    for kind, words, endings in (
        (
            Kind.METHOD,
            r"(single cell "
            r")?(imaging|sequencing|seq)|assay|screen|clamp|trial|cohort|simulation|model|recording|biopsy|database|technique"
            r"|f?mri|[em]eg|emg|elisa|crispr|cas9|knockout|knockdown|meta analysis|association "
            r"study|gwas?|statistics?|theory|survey|method"
            r"|(machine|deep) learning|neural network|algorithm|biomarker|risk "
            r"factor|prognosis|questionnaire|replication study|reproducibility"
            r"|(deficient|knockout|transgenic|null|type|control|mutant) "
            r"(mouse|rat|animal|fly|larva|line|strain)|docking|regression"
            r"|(network|computational|data) analysis",
            r"graphy|metry|scopy|blot(ting)?|screening|modell?ing|optogenetics?|biobank|electrophysiology|precipitation|pcr|staining|omics?"
            r"|epidemiology|informatics?|transcriptome|proteome|metabolome|connectome|mendelian "
            r"randomization",
        ),
        (
            Kind.EVENT,
            r"pandemic|epidemic|outbreak|lockdown|war|disaster|earthquake|famine|season|century",
            r"demic wave",
        ),
        (
            Kind.CELL,
            r"cell|cell line|glia|gamete|sperm|organoid|spheroid|progenitor|precursor",
            r"neuron|cyte|[a-z]{3}blast|(?<!bacterio)phage|[a-z]{3}phil|microglia|oocyte",
        ),
        (
            Kind.DISEASE,
            r"disease|disorder|syndrome|cancer|tumor|infection|injury|lesion|dysfunction|deficiency|impairment|failure|insufficiency"
            r"|resistance|malformation|metastasis|mortality|death|degeneration|pain",
            r"degeneration|dementia|[a-z]{3,}epsy|[a-z]{3,}penia|dystrophy|opathy|itis|algia|plegia|[a-z]{3}emia|(?<!pt)(?<!cyt)(?<!bi)(?<!mei)(?<!sm)(?<!mit)osis|[a-z]{3,}(?<!str)oma|tension",
        ),
        (
            Kind.GENE,
            r"factor alpha|(transcription|growth) "
            r"factor|gene|enzyme|subunit|ligand|histone|antibody|cytokine|chemokine|mutation|domain"
            r"|enhancer|promoter|locus|allele|protein|channel|transporter|interferon gamma",
            r"receptor|kinase|(?<!dise)(?<!ph)(?<!dat)(?<!incre)(?<!decre)(?<!rele)(?<!phr)(?<!purch)(?<!c)(?<!b)ase|globulin|rna",
        ),
        (
            Kind.ORGANISM,
            r"bacterium|fungus|parasite|microbe|pathogen|yeast|worm|symbiont|predator|algae|(cov|hiv|hsv|ebv|cmv|hpv)( "  # noqa: E501
            r"\d)?",
            r"virus|bacteriophage|microbiota|microbiome|mycobacterium",
        ),
        (
            Kind.BEHAVIOUR,
            r"sleep|memory|learning|attention|perception|cognition|performance|movement|emotion|motivation|decision "  # noqa: E501
            r"making|locomotion"
            r"|feeding|foraging|grooming|walking|mood|fear|reward|arousal|consciousness|speech|language|reading|vision|hearing|circadian "  # noqa: E501
            r"rhythm"
            r"|planning|imagery|hunger",
            r"behavior",
        ),
        (
            Kind.EXPOSURE,
            r"exposure|diet|exercise|pollution|temperature|intake|consumption|radiation|lifestyle|training|fasting|nutrition|restriction"
            r"|vaccination|immunization|physical "
            r"activity|light|humidity|altitude|education|poverty",
            r"ultraviolet light",
        ),
        (
            Kind.ANATOMY,
            r"tissue|muscle|nucleus|gland|artery|vein|vessel|nerve|organ|brain|heart|liver|lung|kidney|spleen|bone|skin|gut|intestine|colon"
            r"|stomach|eye|ear|retina|spinal "
            r"cord|bulb|ganglion|lobe|lobule|matrix|marrow|placenta|embryo|limb|wing|barrier|membrane|circuit"
            r"|region|area|layer|adipose|axon|dendrite|spine|synapse|cilium|hemisphere|nervous "
            r"system|fiber|ovary|testis|capillary|vacuole"
            r"|apparatus",
            r"cortex|hippocampus|amygdala|[a-z]{3,}ellum|thalamus|striatum|microenvironment|mitochondrion|organelle|chromosome|skeleton",
        ),
        (
            Kind.PROCESS,
            r"cycle|transport|response|growth|development|repair|binding|folding|turnover|clearance|activity|translation|pathway|uptake"
            r"|transfer|damage",
            r"signaling|metabolism|plasticity|transmission|expression|immunity|homeostasis|genesis|lysis|phagy|ptosis|taxis|mitosis|meiosis"
            r"|kinesis|synthesis|senescence|fusion|fission|potentiation|secretion|[a-z]{4,}ation|[a-z]{4,}ction|[a-z]{3,}sion|[a-z]{3,}bition"
            r"|excitability|oscillation|silencing",
        ),
        (
            Kind.SUBSTANCE,
            r"(\w+ "
            r")?acid|drug|inhibitor|agonist|antagonist|blocker|antibiotic|vitamin|lipid|ion|vaccine|compound|metabolite|nutrient"
            r"|supplement|sugar|toxin|polymer",
            r"hormone|steroid|lipid|peptide|transmitter|glyceride|lipoprotein|glycan|saccharide|[a-z]{4,}amine|[a-z]{3,}[bcdmnprtxz]ine"
            r"|[a-z]{4,}[bcdfghmnpt]ol|[a-z]{3,}[cdfghlmnprtx]ide|[a-z]{4,}[lmnrsth]ate|[a-z]{4,}[rst]one|[a-z]{3,}ose|statin"
            r"|mab|[a-z]{3,}nib|[a-z]{3,}vir|cillin|mycin|azole|[a-z]{3,}pril|sartan|olol|oxetine|azepam|triptan|formin|[a-z]{3,}parin|platin|taxel"
            r"|rubicin|caine|cycline|floxacin|zolamide|[a-z]{3,}sium|[a-z]{3,}odium|[a-z]{2,}thium|[a-z]{2,}enium",
        ),
    )
)
_NOT_A_SUBSTANCE = re.compile(
    r"(rate|state|climate|substrate|estimate|candidate|climate|template|plate|gate|primate|vertebrate|medicine|machine|spine|"
    r"routine|discipline|baseline|pipeline|decline|intestine|engine|control|protocol|symbol|school|bone|zone|clone|milestone|purpose|dose|"
    r"response|phase|genocide|guide|wide|side|intermediate|aggregate|duplicate|climate|private|ultimate|syndrome)$"
)
# `Genus species`: a Latin word and an epithet, as the normal form leaves them.
_BINOMIAL = re.compile(
    r"^([a-z]{3,}(us|um|is|a|i|er|ella|e)|[a-z]) [a-z]{4,}(us|um|is|ae|a|ens|i|e)$"
)
_GENUS = re.compile(r"^[a-z]+(bacterium|bacter|coccus|mona|ella|plasma|myce|vibrio|virus) [a-z]+$")
# As authors write genes and proteins: capitals with a number (`TDP-43`), or a short run of capitals
# with a small letter in front.
_SYMBOL = re.compile(
    r"^(?=.*\d)(?=.*[A-Zα-ω])[A-Za-zα-ω][A-Za-z0-9α-ω/-]{2,9}$|^[a-z][A-Z][A-Za-z0-9]{2,}$|^[A-Z]{2,}-?[α-ωκ]\w?$"
)

_BEFORE: tuple[tuple[Kind, str], ...] = (
    (Kind.DISEASE, r"(patient|people|individual|subject|child|diagnosed|afflicted) "
r"with|(risk|severity|symptom|treatment|prevalence|incidence"
                   r"|onset|progression|pathogenesis|diagnosis|prevention) of|suffering from"),
    (Kind.SUBSTANCE, r"(treated|injected|supplemented|incubated) "
r"with|(administration|dose|concentration|release|injection|infusion|secretion"
                     r"|synthesis|biosynthesis|uptake|level) of"),
    (Kind.GENE, r"(expression|overexpression|knockdown|knockout|deletion|depletion|loss|inactivation|phosphorylation|mutation|variant|isoform"  # noqa: E501
                r"|subunit) (of|in)|(gene|protein|kinase|receptor|factor|enzyme|encoding|encode)"),
    (Kind.PROCESS, r"(process|regulation|induction|initiation) of|(undergo|undergoe|undergoing)"),
    (Kind.CELL, r"(activated|differentiated|mature|infiltrating|resident|circulating|cultured|primary)"),  # noqa: E501
    (Kind.ANATOMY, r"(within|across|throughout|region of|area of|neuron in|cell in|in) "
r"the|(left|right|dorsal|ventral|anterior|posterior)"),
    (Kind.BEHAVIOUR, r"(deprivation|loss|quality|duration|impaired) (of)?|(during|after) "
r"(rem|nrem|non)"),
    (Kind.EXPOSURE, r"(exposure|exposed|access) to|(amount|intake|consumption) of"),
    (Kind.EVENT, r"(before|during|since|after) the"),
    (Kind.ORGANISM, r"(infected|infection|colonized|colonization) "
r"(with|by)|(strain|isolate|species) of|anti"),
    (Kind.METHOD, r"(using|by using|we performed|we used|analyzed by|measured by|perform|based)"),
)  # fmt: skip
_AFTER: tuple[tuple[Kind, str], ...] = (
    (Kind.DISEASE, r"(patient|severity|symptom|progression|risk|diagnosis|pathology|pathogenesis|incidence|prevalence|survivor|onset|outcome)"),  # noqa: E501
    (Kind.SUBSTANCE, r"(treatment|administration|concentration|release|injection|receptor|supplementation|dose|infusion|treated"  # noqa: E501
                     r"|biosynthesis|analog|analogue)"),
    (Kind.GENE, r"(expression|knockout|mutant|mutation|deficient|deficiency|knockdown|gene|protein|null|deletion|overexpression|phosphorylation"  # noqa: E501
                r"|isoform|variant|binding|inhibitor|antibody|antagonist|agonist|dependent|subunit|allele)"),
    (Kind.PROCESS, r"(machinery|rate|defect|cascade)"),
    (Kind.CELL, r"(recruitment|infiltration|depletion|subset|population|differentiation|lineage|precursor|progenitor|activation|migration)"),  # noqa: E501
    (Kind.ANATOMY, r"(volume|region|slice|morphology|surface|circuit)"),
    (Kind.BEHAVIOUR, r"(task|behavior|performance|deprivation|duration|quality|test|formation|consolidation|retrieval)"),  # noqa: E501
    (Kind.EXPOSURE, r"(exposure|intake|intervention|consumption|status|habit)"),
    (Kind.EVENT, r"(pandemic|wave|outbreak|era|period)"),
    (Kind.ORGANISM, r"(infection|strain|isolate|infected|virulence|colonization|genome)"),
    (Kind.METHOD, r"(data|analysis|dataset|method|study|result|technique|approach|experiment)"),
)  # fmt: skip
_BEFORE_PATTERNS = tuple((kind, re.compile(rf"\b({pattern})$")) for kind, pattern in _BEFORE)
_AFTER_PATTERNS = tuple((kind, re.compile(rf"^({pattern})\b")) for kind, pattern in _AFTER)

_CHANGEABLE = frozenset(
    {Kind.SUBSTANCE, Kind.MATERIAL, Kind.GENE, Kind.PROCESS, Kind.CELL, Kind.BEHAVIOUR, Kind.EXPOSURE, Kind.ORGANISM}  # noqa: E501
)  # fmt: skip


def kind_of(concept: Concept) -> Kind:
    """The kind recorded for a concept, else the kind its name suggests."""
    return (
        concept.kind
        if concept.kind is not Kind.UNKNOWN
        else kind_by_form(concept.key, concept.label)
    )


_GENERAL = {
    Kind.SUBSTANCE: Kind.MATERIAL,
    Kind.EXPOSURE: Kind.EXPOSURE,
    Kind.EVENT: Kind.EVENT,
}


def generalise_kind(concept: Concept) -> Concept:
    """The concept with a kind that any field has: no gene, cell or disease."""
    return replace(concept, kind=_GENERAL.get(kind_of(concept), Kind.THING))


def drive(kind: Kind) -> int:
    """How likely a kind is the cause in a link, from 3 (substance, exposure) to 0."""
    if kind in {Kind.SUBSTANCE, Kind.EXPOSURE}:
        return 3
    if kind in _CHANGEABLE or kind is Kind.EVENT:
        return 2
    return 1 if kind is Kind.ANATOMY else 0


def can_be_changed(kind: Kind) -> bool:
    """Whether an experiment can manipulate this kind; other kinds are only observed."""
    return kind in _CHANGEABLE


def is_method_name(key: str) -> bool:
    """Whether a name has the form of a research method."""
    return bool(_FORMS[0][1].search(key))


@lru_cache(maxsize=50_000)
def kind_by_form(key: str, label: str = "") -> Kind:
    """The kind by the form of a name: its last word, a binomial, a gene symbol."""
    if _GENUS.match(key):
        return Kind.ORGANISM
    for kind, pattern in _FORMS:
        if kind is Kind.SUBSTANCE and _NOT_A_SUBSTANCE.search(key):
            continue
        if pattern.search(key):
            return kind
    if label[:1].isupper() and _BINOMIAL.match(key):
        return Kind.ORGANISM
    return Kind.GENE if _SYMBOL.match(label) else Kind.UNKNOWN


def kind_by_trees(trees: Sequence[str]) -> Kind:
    """The kind by MeSH tree numbers; the most frequent branch decides."""
    found = Counter(kind for tree in trees if (kind := _kind_of_tree(tree)) is not Kind.UNKNOWN)
    return found.most_common(1)[0][0] if found else Kind.UNKNOWN


def kind_in_company(key: str, label: str, sentences: Iterable[str]) -> Kind:
    """The kind by name and context; sentences are normal words padded with single spaces."""
    votes: Counter[Kind] = Counter()
    by_form = kind_by_form(key, label)
    if by_form is not Kind.UNKNOWN:
        votes[by_form] += KINDS.form_counts
    for sentence in sentences:
        before, named, after = sentence.partition(f" {key} ")
        if named:
            votes.update(
                kind for kind, pattern in _BEFORE_PATTERNS if pattern.search(before.strip())
            )
            votes.update(kind for kind, pattern in _AFTER_PATTERNS if pattern.match(after.strip()))
    if not votes:
        return Kind.UNKNOWN
    (first, most), *rest = votes.most_common()
    if by_form is not Kind.UNKNOWN and (
        votes[by_form] == most or most < KINDS.overrules * votes[by_form]
    ):
        return by_form
    return (
        first if most >= KINDS.least_company and (not rest or most > rest[0][1]) else Kind.UNKNOWN
    )


def _kind_of_tree(tree: str) -> Kind:
    for start, kind in _TREES:
        if tree.startswith(start):
            return kind
    return Kind.UNKNOWN


_TREES: tuple[tuple[str, Kind], ...] = (
    ("A11", Kind.CELL),
    ("A", Kind.ANATOMY),
    ("B", Kind.ORGANISM),
    ("C", Kind.DISEASE),
    ("D08", Kind.GENE),
    ("D12", Kind.GENE),
    ("D23", Kind.GENE),
    ("D", Kind.SUBSTANCE),
    ("E", Kind.METHOD),
    ("F03", Kind.DISEASE),
    ("F", Kind.BEHAVIOUR),
    ("G", Kind.PROCESS),
    ("J02", Kind.EXPOSURE),
)


_CAPITALS = re.compile(r"[A-Z]{3,6}")
_DRUG = re.compile(r"(mab|nib|inhibitor|vaccine)$")
# What papers put after a name tells what it names: one gives a substance, deletes a gene, and
# counts patients of a disorder.
_TOLD: dict[Kind, str] = {
    Kind.SUBSTANCE: "administration supplementation infusion injection dose intake analog "
    "derivative biosynthesis molecule precursor",
    Kind.GENE: (
        "gene expression mutation mutant knockout knockdown deletion protein homolog ortholog "
        "overexpression allele variant depletion "
        "receptor inhibitor phosphorylation activity binding subunit promoter transcript mrna "
        "domain"
    ),
    Kind.DISEASE: "patient symptom risk diagnosis onset prevalence incidence severity progression "
    "susceptibility case",
    Kind.PROCESS: "pathway dynamics regulation defect process induction machinery rate flux "
    "impairment",
    Kind.CELL: "population subtype differentiation proliferation lineage culture progenitor "
    "identity",
}
_COMPANY = {kind: tuple(words.split()) for kind, words in _TOLD.items()}


def kind_in_index(index: Concepts, number: int) -> Kind:
    """The kind by the vocabulary's trees, else by the name and the phrases that it begins."""
    key = index.key(number)
    told = kind_by_trees(index.trees(number))
    if told is Kind.GENE and _DRUG.search(key):
        # Made by genes, and given as a drug.
        return Kind.SUBSTANCE
    if told is not Kind.UNKNOWN:
        return told
    evidence = {kind: _company(index, key, words) for kind, words in _COMPANY.items()}
    form = kind_by_form(key, index.label(number))
    if form is not Kind.UNKNOWN:
        evidence[form] = evidence.get(form, 0.0) + KINDS.indexed_form_weight
    elif _CAPITALS.fullmatch(index.label(number)):
        evidence[Kind.GENE] += KINDS.capitals_count
    best = max(evidence, key=lambda kind: evidence[kind])
    return best if evidence[best] >= KINDS.least_evidence else Kind.UNKNOWN


def _company(index: Concepts, key: str, words: tuple[str, ...]) -> float:
    met = [papers for word in words if (papers := index.papers_of_phrase(f"{key} {word}"))]
    # One such phrase may be chance; two different ones are not.
    return log1p(sum(met)) if len(met) > 1 else 0.5 * min(1, len(met))
