"""Test protocols for a connection: intervene where possible, else compare; weakest link first."""

from dataclasses import dataclass

from carrel.libraries.discovery.concepts.kinds import can_be_changed, drive, kind_of
from carrel.libraries.discovery.connections.candidates import (
    CandidateConnection,
    EvolutionStrategy,
    ExperimentalProtocol,
    TestMethod,
)
from carrel.libraries.discovery.connections.links import (
    Link,
    acts_first,
    leading_chain,
    starts_acting,
    weakest_link,
)
from carrel.libraries.discovery.connections.methods import (
    is_known_method,
    is_of_people,
    reads_out,
    same_method,
    system_named,
)
from carrel.libraries.discovery.records import Concept, Kind
from carrel.libraries.discovery.writing.wording import (
    blocked,
    changed,
    changed_simply,
    compared_with,
    listed,
    named,
    papers,
    readout,
    sentence_case,
    varied,
)

_LABORATORY = frozenset({Kind.GENE, Kind.CELL, Kind.PROCESS, Kind.ORGANISM})


@dataclass(frozen=True)
class LinkTest:
    """The test of one link: what is varied, what is read out, in which system, by which method."""

    link: Link
    varied: Concept
    read: Concept
    is_intervention: bool
    system: TestMethod | None
    method: TestMethod | None

    @property
    def action(self) -> str:
        """What is done, with the reverse in a further arm where there is one."""
        return changed(self.varied, self.read)

    @property
    def against(self) -> str:
        """What it is compared with."""
        return compared_with(self.varied)

    @property
    def condition(self) -> str:
        """The variation within a sentence: `with NF-κB knocked down`."""
        return varied(self.varied)

    @property
    def readout(self) -> str:
        """What is measured."""
        return readout(self.read)

    def in_short(self) -> str:
        """The test in one clause."""
        place = f"in {self.system.label}, " if self.system else ""
        how = f" by {self.method.label}" if self.method else ""
        return f"{place}{changed_simply(self.varied, self.read)} and read out {self.readout}{how}"


def link_test(connection: CandidateConnection, link: Link) -> LinkTest:
    """The test of a link: vary the cause, else the effect; compare where neither can be changed."""
    cause_kind, effect_kind = kind_of(link.cause), kind_of(link.effect)
    is_intervention = can_be_changed(cause_kind) or can_be_changed(effect_kind)
    backwards = _varies(effect_kind) > _varies(cause_kind)
    varied, read = (link.effect, link.cause) if backwards else (link.cause, link.effect)
    system = _system(connection, link, kind_of(varied))
    return LinkTest(
        link,
        varied,
        read,
        is_intervention,
        system,
        _method(connection, link, kind_of(read), system),
    )


def _varies(kind: Kind) -> int:
    # What groups can be made to differ in, best first: what is changed, then what is found
    # different; a place or a method is neither.
    if can_be_changed(kind):
        return drive(kind)
    return {Kind.ANATOMY: 0, Kind.METHOD: -1}.get(kind, 1)


def acting(connection: CandidateConnection) -> tuple[Concept, Concept]:
    """The cause and the effect of the claim."""
    start, end = connection.start, connection.end
    return (start, end) if starts_acting(connection) else (end, start)


def taken_out(connection: CandidateConnection) -> str:
    """The phrase for removing the bridge: blocked in an experiment, adjusted for in observation."""
    bridge = connection.bridges[0].concept
    return (
        blocked(bridge)
        if can_be_changed(kind_of(acting(connection)[0]))
        else f"with {named(bridge)} adjusted for"
    )


def protocol(connection: CandidateConnection) -> ExperimentalProtocol:
    """A protocol: tests of the weakest link, of the other link, then of the whole chain."""
    weakest = weakest_link(connection)
    near, far = leading_chain(connection)
    other = far if weakest == near else near
    first, second = link_test(connection, weakest), link_test(connection, other)
    a, c, b = named(connection.start), named(connection.end), named(connection.bridges[0].concept)
    alone = connection.origin.made_by is EvolutionStrategy.SIMPLIFY
    steps = [
        f"Search wider databases for {a} together with {c}"
        f"{f' or {_other_ends(connection)}' if connection.arms else ''}; stop if the answer is "
        f"already known. "
        "Read the quoted papers in full.",
        f"Weakest link first, {_pair(weakest)} ({papers(weakest.documents)}; "
        f"{weakest.judgement.value}): {_design(first)}",
        f"Decide: {_rule(first)}",
    ]
    if not alone:
        steps.append(
            f"Then the other link, {_pair(other)} ({papers(other.documents)}; "
            f"{other.judgement.value}): {_design(second)}"
        )
        steps.append(_whole_chain(connection))
    steps.extend(_arm_steps(connection))
    scope = f", {connection.scope}" if connection.scope else ""
    objective = (
        f"Find out whether {c} and {a} are connected through {b}{scope}, beginning with "
        f"the weakest link, {_pair(weakest)}."
    )
    if alone:
        objective = (
            f"Find out whether the link {_pair(weakest)} holds{scope}; if {c} and {a} are "
            f"connected through {b} alone, all depends on it."
        )
    if connection.arms:
        ways = " and ".join(
            f"to {named(arm.end)} through {named(arm.bridges[0].concept)}"
            for arm in connection.arms
        )
        objective = (
            f"Find out whether {a} is connected to {c} through {b} and {ways}, beginning "
            f"with the weakest link, {_pair(weakest)}."
        )
    return ExperimentalProtocol(
        objective,
        tuple(steps),
        _needed(connection, (first,) if alone else (first, second)),
        _success(connection, first, alone),
        _challenges(connection, weakest, first),
        _safety(connection),
    )


def _pair(link: Link) -> str:
    return f"{named(link.cause)} – {named(link.effect)}"


def _other_ends(connection: CandidateConnection) -> str:
    return listed([named(arm.end) for arm in connection.arms])


def _design(test: LinkTest) -> str:
    is_general = is_in_general_terms(test.varied, test.read)
    place = (
        f"in {_used(test.system, test.link)}, "
        if test.system
        else f"in the {'setting' if is_general else 'system'} of the cited papers, "
    )
    how = (
        f"by {_used(test.method, test.link)}"
        if test.method
        else "by the measure the cited papers use"
    )
    if is_general:
        drawn = "what counts as a difference fixed beforehand"
    elif test.is_intervention:
        drawn = "groups drawn by lot, readers blind to them"
    else:
        drawn = "readers blind to the groups"
    direction = (
        ""
        if test.is_intervention and test.varied == test.link.cause
        else " This shows the link, not its direction."
    )
    return (
        f"{place}{test.action}. Comparison: {test.against}; {drawn}. Readout: {test.readout}, "
        f"{how}.{direction}"
    )


def _used(one: TestMethod, link: Link) -> str:
    if one.document_ids and link.bench.papers and one in (*link.bench.systems, *link.bench.methods):
        return (
            f"{one.label} (named by {one.documents} of {papers(link.bench.papers)} read on "
            f"this link, such as {one.document_ids[0]})"
        )
    return (
        f"{one.label} ({papers(one.documents)} on the bridges, such as {one.document_ids[0]})"
        if one.document_ids
        else one.label
    )


def _rule(test: LinkTest) -> str:
    return (
        f"go on only if {test.condition} there is a difference in {test.readout}, at least as "
        f"large as fixed beforehand, and again in {_repetition(test)}. No such difference in a "
        f"study large enough to see it speaks against the connection."
    )


def _repetition(test: LinkTest) -> str:
    is_general = is_in_general_terms(test.varied, test.read)
    return "an independent repetition" if is_general else "a second, independent batch"


def is_in_general_terms(*concepts: Concept) -> bool:
    """Whether a test speaks of no field: the papers on it are not of the life sciences."""
    return any(kind_of(concept) in {Kind.THING, Kind.MATERIAL} for concept in concepts)


def _whole_chain(connection: CandidateConnection) -> str:
    b = connection.bridges[0].concept
    actor, target = acting(connection)
    if can_be_changed(kind_of(actor)):
        do = (
            f"{changed(actor, target)}; read out {readout(target)}, and again "
            f"{taken_out(connection)}"
        )
        shows = (
            f"If it runs through {named(b)}, the effect shrinks; if the effect stays, the "
            f"bridge is wrong even where the ends are connected."
        )
    else:
        pair = f"{named(actor)} and {named(target)}"
        do = (
            f"in {_data_on(connection)} that has all three, test whether {pair} go together, and "
            f"again {taken_out(connection)}"
        )
        shows = (
            f"If it runs through {named(b)}, the association shrinks; if it stays, something "
            f"else joins the ends."
        )
    return f"Then the whole chain: {do}. {shows}"


def _data_on(connection: CandidateConnection) -> str:
    is_general = is_in_general_terms(connection.start, connection.end)
    return "data" if is_general else "records or a cohort"


def _arm_steps(connection: CandidateConnection) -> list[str]:
    start, end = connection.start, connection.end
    same = "cases" if is_in_general_terms(start, end) else "subjects"
    steps = []
    for arm in connection.arms:
        if acts_first(start, end) and acts_first(start, arm.end):
            steps.append(
                f"Then both ends in the same {same}: {changed(start, end)}; read out "
                f"{readout(end)}, and {readout(arm.end)}. "
                "Ends that change independently of each other speak against combining them."
            )
            continue
        kinds = (kind_of(end), kind_of(arm.end))
        pair = f"{named(end)} and {named(arm.end)}"
        if all(can_be_changed(kind) or kind is Kind.DISEASE for kind in kinds):
            do = f"{pair} in four groups (neither, each alone, both); read out {readout(start)}"
        else:
            do = f"record {pair} in the same {same}, with {readout(start)}"
        steps.append(
            f"Then the two ends together: {do}. Both telling no more than the stronger one alone "
            f"speaks against combining them."
        )
    return steps


def _needed(connection: CandidateConnection, tests: tuple[LinkTest, ...]) -> tuple[str, ...]:
    lines: dict[str, str] = {}
    for test in tests:
        for used in (test.system, test.method):
            if used and used.document_ids:
                lines.setdefault(
                    used.label, f"{sentence_case(used.label)}, as in {used.document_ids[0]}."
                )
    for method in _methods(connection)[:3]:
        lines.setdefault(
            method.label,
            f"{sentence_case(method.label)} ({papers(method.documents)} on the bridges).",
        )
    where = "Cases" if is_in_general_terms(connection.start, connection.end) else "A system"
    return tuple(lines.values()) or (
        f"{where} in which {named(connection.start)} can be observed.",
    )


def _success(connection: CandidateConnection, first: LinkTest, alone: bool) -> tuple[str, ...]:
    told = [
        f"A difference in {first.readout} {first.condition}, at least as large as fixed "
        f"beforehand, in {_two_repetitions(first)}."
    ]
    if not alone:
        told.append(f"The ends move together, and less so {taken_out(connection)}.")
    return tuple(told)


def _two_repetitions(test: LinkTest) -> str:
    is_general = is_in_general_terms(test.varied, test.read)
    return "two independent repetitions" if is_general else "two independent batches"


def _challenges(connection: CandidateConnection, weakest: Link, first: LinkTest) -> tuple[str, ...]:
    told = [f"The link {_pair(weakest)} rests on {papers(weakest.documents)}."]
    if is_in_general_terms(first.varied, first.read):
        told.append(
            "Unless one side can be set on purpose, a third thing may stand behind both: record "
            "and adjust for it."
        )
    elif not first.is_intervention:
        told.append(
            "Neither side can be changed at will, so a third thing may stand behind both: record "
            "and adjust for it."
        )
    else:
        told.append("Mention together is not cause: a third thing may stand behind both.")
    if not first.method:
        told.append(
            "The papers on this link name no method that fits the readout; settle it before "
            "anything else."
        )
    return tuple(told)


def _safety(connection: CandidateConnection) -> tuple[str, ...]:
    kinds = {
        kind_of(concept)
        for concept in (connection.start, connection.end, connection.bridges[0].concept)
    }
    if is_in_general_terms(connection.start, connection.end):
        told = ["Work with people or their data needs the approval of an ethics committee."]
    else:
        told = [
            "Work with people, their records or animals needs the approval of an ethics committee."
        ]
    if Kind.ORGANISM in kinds:
        told.append(
            "Keep organisms at the containment level set for them, and make none more dangerous."
        )
    if kinds & {Kind.SUBSTANCE, Kind.MATERIAL}:
        told.append("Follow the safety rules for every substance used.")
    return tuple(told)


def _system(connection: CandidateConnection, link: Link, varied_kind: Kind) -> TestMethod | None:
    found = link.bench.systems
    if is_in_general_terms(link.cause, link.effect):
        return next((one for one in found if not _is_human(one)), None)
    if varied_kind in _LABORATORY:
        # Genes, cells and pathways are changed in animals and cells, not in people.
        found = tuple(one for one in found if not _is_human(one)) or tuple(
            one
            for bench in (connection.bridges[0].near_bench, connection.bridges[0].far_bench)
            for one in bench.systems
            if not _is_human(one)
        )
    return found[0] if found else None


def _is_human(one: TestMethod) -> bool:
    system = system_named(one.label)
    return system is not None and system.is_human


def _method(
    connection: CandidateConnection, link: Link, read_kind: Kind, system: TestMethod | None
) -> TestMethod | None:
    among_people = system is None or _is_human(system)
    every = (*link.bench.methods, *_methods(connection))
    return next(
        (
            one
            for one in every
            if reads_out(one.label, read_kind) and (among_people or not is_of_people(one.label))
        ),
        None,
    )


def _methods(connection: CandidateConnection) -> tuple[TestMethod, ...]:
    # One method under one name, with the count of its most used spelling.
    told: dict[str, TestMethod] = {}
    is_general = is_in_general_terms(connection.start, connection.end)
    for method in connection.methods:
        name = same_method(method.label)
        if is_general and not is_known_method(name):
            # Told from other names by endings of the life sciences ("economic" is no "-omic").
            continue
        if name not in told or method.documents > told[name].documents:
            told[name] = TestMethod(name, method.documents, method.document_ids)
    return tuple(told.values())
