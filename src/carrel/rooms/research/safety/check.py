"""The rules: each joins an intent, an object and means, so that a dreadful word alone refuses nothing."""

from collections.abc import Callable
from dataclasses import dataclass

from carrel.rooms.research.safety.signs import Sign, Signs, read_signs


@dataclass(frozen=True)
class SafetyDecision:
    """Allowed or not, by which rule, why, and which words showed it."""

    allowed: bool
    rule: str
    reason: str
    signs: tuple[str, ...]
    words: tuple[str, ...]
    advice: str


@dataclass(frozen=True)
class _Rule:
    id: str
    reason: str
    applies: Callable[[Signs], bool]
    advice: str = "Questions of prevention, treatment, detection, history or policy on the same matter are welcome."


def _guarded(signs: Signs) -> bool:
    return signs.any(Sign.PROTECT, Sign.LOOK_BACK)


def _long_ago(signs: Signs) -> bool:
    return any(word.startswith(("histor", "first world", "second world")) for word in signs.words([Sign.LOOK_BACK])) or any(
        word.startswith(("how did", "why did")) for word in signs.words([Sign.EXPLAIN])
    )


def _mass_harm(signs: Signs) -> bool:
    # Nothing that stands beside it (a policy, a wish to understand) makes a plan to make arms into something else.
    if signs.any(Sign.MAKE_OUTRIGHT) and not signs.any(Sign.PROTECT) and not _long_ago(signs):
        return True
    if not signs.any(Sign.WEAPON):
        return False
    if signs.all(Sign.HARM_PEOPLE, Sign.DEFEATED) and not _guarded(signs):
        return True
    if signs.any(Sign.HARM_PEOPLE, Sign.EVADE) and signs.any(Sign.MAKE, Sign.DEPLOY, Sign.SEEK):
        return not (_guarded(signs) and not signs.any(Sign.EVADE) and not signs.any(Sign.DEPLOY))
    return signs.any(Sign.MAKE, Sign.DEPLOY) and not _guarded(signs) and not signs.any(Sign.EXPLAIN)


def _public_attack(signs: Signs) -> bool:
    dangerous = signs.any(Sign.TOXIN, Sign.PATHOGEN, Sign.WEAPON, Sign.DRUG, Sign.HARM_PEOPLE)
    if signs.all(Sign.DEPLOY, Sign.PUBLIC_PLACE) and dangerous:
        return signs.any(Sign.HARM_PEOPLE) or not (_guarded(signs) or signs.any(Sign.EXPLAIN))
    if signs.all(Sign.DEPLOY, Sign.PATHOGEN, Sign.HARM_PEOPLE):
        return not signs.any(Sign.LOOK_BACK)
    weaponised = signs.any(Sign.DEPLOY) and any(word.startswith(("weaponi", "aerosoli")) for word in signs.words([Sign.DEPLOY]))
    return weaponised and signs.any(Sign.TOXIN, Sign.PATHOGEN) and not _guarded(signs)


def _worse_pathogen(signs: Signs) -> bool:
    wanted = signs.any(Sign.MAKE, Sign.INSTRUCT, Sign.DEPLOY, Sign.HARM_PEOPLE, Sign.ROLE)
    if signs.any(Sign.PATHOGEN) and (signs.any(Sign.WORSEN) or (signs.any(Sign.FEARED_FORM) and wanted)):
        if signs.any(Sign.HARM_PEOPLE, Sign.DEPLOY, Sign.EVADE):
            return True
        debated = signs.any(Sign.LOOK_BACK) and all(word.startswith("gain") for word in signs.words([Sign.WORSEN]))
        return not debated and not signs.any(Sign.EXPLAIN) and not _only_protects(signs)
    made_anew = signs.all(Sign.MAKE, Sign.GRAVE_PATHOGEN) and any(
        word.startswith(("from ", "synthesi", "construct", "reconstruct", "creat", "build", "assembl"))
        for word in signs.words([Sign.MAKE])
    )
    if made_anew and not _guarded(signs):
        return True
    grown_at_home = any(
        word.startswith(("at home", "home", "kitchen", "garage", "basement")) for word in signs.words([Sign.ILLICIT])
    )
    if signs.all(Sign.PATHOGEN, Sign.MAKE) and grown_at_home and not _guarded(signs):
        return True
    return signs.all(Sign.PATHOGEN, Sign.EVADE) and signs.any(Sign.MAKE, Sign.INSTRUCT, Sign.DEPLOY) and not _guarded(signs)


def _only_protects(signs: Signs) -> bool:
    # Words such as `treatment` also stand in the harm itself (`so that treatment fails`), so what defeats them is not protection.
    defeated = any(
        part in word
        for word in signs.words([Sign.WORSEN, Sign.FEARED_FORM])
        for part in ("resist", "escap", "evad", "no drug", "no vaccine")
    )
    return signs.any(Sign.PROTECT) and not defeated


def _poison(signs: Signs) -> bool:
    if not signs.any(Sign.TOXIN, Sign.DRUG, Sign.HARM_PEOPLE):
        return False
    if signs.all(Sign.TOXIN, Sign.EVADE) and not _guarded(signs):
        return True
    if signs.any(Sign.HARM_PEOPLE) and signs.any(Sign.TOXIN, Sign.DRUG, Sign.DEPLOY, Sign.EVADE, Sign.INSTRUCT):
        return not (signs.any(Sign.LOOK_BACK, Sign.EXPLAIN) or (_guarded(signs) and not signs.any(Sign.EVADE, Sign.DEPLOY)))
    return signs.all(Sign.TOXIN, Sign.MAKE) and signs.any(Sign.ILLICIT, Sign.INSTRUCT) and not _guarded(signs)


def _illegal_drugs(signs: Signs) -> bool:
    if not signs.any(Sign.DRUG):
        return False
    if signs.any(Sign.EVADE) and signs.any(Sign.MAKE, Sign.ILLICIT):
        return True
    made = signs.any(Sign.MAKE) and signs.any(Sign.ILLICIT, Sign.INSTRUCT)
    return made and not signs.any(Sign.PROTECT, Sign.EXPLAIN)


def _without_consent(signs: Signs) -> bool:
    if signs.all(Sign.NO_CONSENT, Sign.INTERVENE) and signs.any(Sign.PEOPLE):
        return not signs.any(Sign.LOOK_BACK)
    if signs.all(Sign.CAPTIVE, Sign.NO_CONSENT) or signs.all(Sign.CAPTIVE, Sign.INTERVENE, Sign.HARM_PEOPLE):
        return not signs.any(Sign.LOOK_BACK)
    infects = any(word.startswith(("infect", "expos", "withhold")) for word in signs.words([Sign.INTERVENE]))
    return signs.any(Sign.CAPTIVE) and infects and not _guarded(signs)


def _explosives(signs: Signs) -> bool:
    wanted = signs.any(Sign.MAKE, Sign.EVADE, Sign.HARM_PEOPLE, Sign.DEPLOY, Sign.RUIN, Sign.INSTRUCT)
    return signs.any(Sign.EXPLOSIVE) and wanted and not _guarded(signs) and not signs.any(Sign.EXPLAIN)


def _sabotage(signs: Signs) -> bool:
    if not signs.all(Sign.LIVELIHOOD, Sign.RUIN):
        return False
    if _guarded(signs) and signs.any(Sign.EXPLAIN):
        return False
    return signs.any(Sign.ENEMY, Sign.HARM_PEOPLE) or any(
        word.startswith(("sabotag", "meltdown", "tamper", "bring", "make ", "making ", "cause ", "causing "))
        for word in signs.words([Sign.RUIN])
    )


def _breach(signs: Signs) -> bool:
    return signs.all(Sign.BREACH, Sign.SECURED) and not signs.any(Sign.LOOK_BACK, Sign.EXPLAIN)


def _attack_on_care(signs: Signs) -> bool:
    if not signs.all(Sign.HACK, Sign.CARE_SYSTEM) or signs.any(Sign.LOOK_BACK, Sign.EXPLAIN):
        return False
    return signs.any(Sign.HARM_PEOPLE, Sign.EVADE, Sign.VILLAIN, Sign.ILL_WILL) or not _guarded(signs)


def _persecution(signs: Signs) -> bool:
    return signs.any(Sign.PERSECUTE) and not _guarded(signs) and not signs.any(Sign.EXPLAIN)


_MEANS = (Sign.WEAPON, Sign.EXPLOSIVE, Sign.PATHOGEN, Sign.TOXIN, Sign.DRUG, Sign.SUBSTANCE, Sign.CARE_SYSTEM, Sign.SECURED)


def _means_for_ill_will(signs: Signs) -> bool:
    if not signs.any(Sign.ILL_WILL) or not signs.any(*_MEANS, Sign.FOE, Sign.HARM_PEOPLE, Sign.PUBLIC_PLACE):
        return False
    sought = signs.any(Sign.SEEK, Sign.MAKE, Sign.INSTRUCT, Sign.EVADE, Sign.DEPLOY, Sign.HARM_PEOPLE, Sign.PUBLIC_PLACE)
    return sought and not _guarded(signs) and not signs.any(Sign.EXPLAIN)


def _against_a_foe(signs: Signs) -> bool:
    harmful = signs.any(Sign.WEAPON, Sign.PATHOGEN, Sign.TOXIN, Sign.EXPLOSIVE, Sign.WORSEN, Sign.RUIN)
    wanted = signs.any(Sign.MAKE, Sign.DEPLOY, Sign.WORSEN, Sign.SEEK)
    return signs.any(Sign.FOE) and harmful and wanted and not _guarded(signs) and not signs.any(Sign.EXPLAIN)


def _villains_part(signs: Signs) -> bool:
    if signs.any(Sign.LOOK_BACK, Sign.EXPLAIN):
        return False
    if signs.all(Sign.ROLE, Sign.VILLAIN, Sign.MAKE):
        return True
    if not signs.any(*_MEANS):
        return False
    wanted = signs.any(Sign.MAKE, Sign.SEEK, Sign.DEPLOY, Sign.WORSEN, Sign.HARM_PEOPLE, Sign.INSTRUCT)
    if signs.any(Sign.ROLE):
        grave = signs.any(Sign.WEAPON, Sign.TOXIN, Sign.EXPLOSIVE) and signs.any(Sign.MAKE) and not _guarded(signs)
        return grave or (wanted and signs.any(Sign.VILLAIN, Sign.HARM_PEOPLE, Sign.ILL_WILL))
    return signs.any(Sign.VILLAIN) and wanted and not _guarded(signs)


def _outside_the_law(signs: Signs) -> bool:
    return signs.all(Sign.EVADE, Sign.ILLICIT) and signs.any(Sign.MAKE, Sign.INSTRUCT) and not _guarded(signs)


_RULES = (
    _Rule(
        "self_harm",
        "It asks for a way to end one's own life.",
        lambda signs: signs.any(Sign.KILL_SELF),
        "If this is about you, please speak to someone now: a local crisis line or emergency number answers at any hour.",
    ),
    _Rule("mass_harm_weapon", "It asks to make, improve or use a weapon of mass harm.", _mass_harm),
    _Rule("public_attack", "It asks how to bring a dangerous agent upon people or a public place.", _public_attack),
    _Rule(
        "pathogen_enhancement",
        "It asks to make a pathogen more dangerous, to remake a grave one, or to get one past screening.",
        _worse_pathogen,
    ),
    _Rule("poison_for_harm", "It asks for a poison, or another means of harm, to be used on people unnoticed.", _poison),
    _Rule("illegal_drug_making", "It asks to make drugs of abuse outside the law.", _illegal_drugs),
    _Rule(
        "no_consent",
        "It asks to act on people who have not agreed or cannot refuse.",
        _without_consent,
        "Studies with informed consent and an ethics committee's approval are welcome.",
    ),
    _Rule("explosives", "It asks to make or use explosives or other means of killing.", _explosives),
    _Rule("breach", "It asks how to break into a guarded laboratory or to take dangerous material.", _breach),
    _Rule("attack_on_care", "It asks to break into, disable or rob the systems patients depend on.", _attack_on_care),
    _Rule("persecution", "It asks to single out a group of people for exclusion, punishment or harm.", _persecution),
    _Rule("means_for_ill_will", "It looks for the means to carry out a wish to harm.", _means_for_ill_will),
    _Rule("against_a_foe", "It asks to turn an agent or a disease against a foe.", _against_a_foe),
    _Rule("villains_part", "It asks for a harmful plan in the part of someone who means harm.", _villains_part),
    _Rule("outside_the_law", "It asks how to do something unlawful without being noticed.", _outside_the_law),
    _Rule("sabotage", "It asks to ruin crops, herds or systems that lives depend on.", _sabotage),
)


def check_goal(text: str) -> SafetyDecision:
    """Whether a research goal may be worked on."""
    signs = read_signs(text)
    for rule in _RULES:
        if rule.applies(signs):
            relevant = [sign for sign in signs.shown if sign not in {Sign.PROTECT, Sign.LOOK_BACK, Sign.EXPLAIN}]
            return SafetyDecision(False, rule.id, rule.reason, tuple(relevant), signs.words(relevant), rule.advice)
    shown = tuple(signs.shown)
    reason = "No rule joins what it names with an intent to harm." if shown else "It shows none of the signs the rules look for."
    return SafetyDecision(True, "none", reason, shown, signs.words(shown), "")


def check_hypothesis(title: str, text: str = "") -> SafetyDecision:
    """Whether a hypothesis may enter a tournament; each line is read by itself, so that quotations do not add up to a plan."""
    for part in (title, *text.split("\n")):
        decision = check_goal(part)
        if not decision.allowed:
            return decision
    return check_goal(title)


def safety_score(text: str) -> float:
    """1 for what may be worked on, 0 for what may not: the form reviews take."""
    return 1.0 if check_goal(text).allowed else 0.0
