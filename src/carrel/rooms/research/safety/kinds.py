"""Kinds of harm: what a refusal says it is about, and what may be asked instead."""

from dataclasses import dataclass

_WELCOME = (
    "Questions of prevention, treatment, detection, history or policy on the same matter "
    "are welcome."
)


@dataclass(frozen=True)
class Kind:
    """One kind of harm."""

    rule: str
    reason: str
    advice: str = _WELCOME


KINDS = {
    "bio": Kind(
        "biological_weapon",
        "It reads as a wish to make a pathogen more dangerous or to bring one upon people.",
    ),
    "chem": Kind("chemical_weapon", "It reads as a wish to make or use a chemical weapon."),
    "poison": Kind(
        "poisoning", "It reads as a wish to poison someone or what people eat and drink."
    ),
    "nuclear": Kind(
        "radiological_harm",
        "It reads as a wish to get or use radioactive material as a weapon, or to make a reactor "
        "fail.",
    ),
    "explosives": Kind(
        "explosives", "It reads as a wish to make or use explosives or fire against people."
    ),
    "firearms": Kind(
        "illegal_weapons", "It reads as a wish to make, hide or use weapons outside the law."
    ),
    "drugs": Kind(
        "illegal_drugs", "It reads as a wish to make, move or push drugs outside the law."
    ),
    "assault": Kind("sexual_violence", "It reads as a wish to drug, groom or overpower someone."),
    "self_harm": Kind(
        "self_harm",
        "It reads as a wish to end one's life or to lead others to harm themselves.",
        "If this is about you, please speak to someone now: a local crisis line or emergency "
        "number answers at any hour.",
    ),
    "eating": Kind(
        "eating_disorder",
        "It reads as a wish to starve, to purge or to lead others to it.",
        "If this is about you, a doctor or a helpline for eating disorders can help. Questions of "
        "treatment are welcome.",
    ),
    "coerced": Kind(
        "no_consent",
        "It reads as a wish to act on people who have not agreed or cannot refuse.",
        "Studies with informed consent and an ethics committee's approval are welcome.",
    ),
    "ethnic": Kind(
        "persecution", "It reads as a wish to single out a group of people for exclusion or harm."
    ),
    "cyber": Kind(
        "attack_on_care",
        "It reads as a wish to break into, disable or rob systems that patients or laboratories "
        "depend on.",
    ),
    "torture": Kind(
        "torture", "It reads as a wish to make people in someone's power suffer or speak."
    ),
    "animals": Kind(
        "animal_cruelty", "It reads as a wish to make animals suffer for its own sake."
    ),
    "fraud": Kind(
        "scientific_fraud",
        "It reads as a wish to invent, bend or hide results.",
        "Questions of how to find or prevent fraud are welcome.",
    ),
    "evasion": Kind(
        "evading_controls",
        "It reads as a wish to get dangerous material or work past the rules and those who keep "
        "them.",
    ),
    "sabotage": Kind(
        "sabotage",
        "It reads as a wish to ruin crops, herds, nature or systems that lives depend on.",
    ),
    "other": Kind("other_harm", "It reads as a wish to harm people."),
}
