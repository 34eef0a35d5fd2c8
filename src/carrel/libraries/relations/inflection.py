"""Regular English verb forms, and the irregular ones of papers."""

_IRREGULAR = {
    "lead": ("leads", ("led",), "leading"),
    "drive": ("drives", ("drove", "driven"), "driving"),
    "give": ("gives", ("gave", "given"), "giving"),
    "bring": ("brings", ("brought",), "bringing"),
    "arise": ("arises", ("arose", "arisen"), "arising"),
    "underlie": ("underlies", ("underlay", "underlain"), "underlying"),
    "undermine": ("undermines", ("undermined",), "undermining"),
    "hold": ("holds", ("held",), "holding"),
    "break": ("breaks", ("broke", "broken"), "breaking"),
    "cut": ("cuts", ("cut",), "cutting"),
    "foretell": ("foretells", ("foretold",), "foretelling"),
    "bear": ("bears", ("bore", "borne"), "bearing"),
    "speed": ("speeds", ("sped", "speeded"), "speeding"),
    "find": ("finds", ("found",), "finding"),
    "show": ("shows", ("showed", "shown"), "showing"),
    "grow": ("grows", ("grew", "grown"), "growing"),
}
_DOUBLED = frozenset({"control", "curb", "stem", "spur", "compel", "permit", "deter"})
_VOWELS = "aeiou"


def third_person(base: str) -> str:
    """`inhibits`, `carries`, `suppresses`."""
    if base in _IRREGULAR:
        return _IRREGULAR[base][0]
    if base.endswith(("s", "x", "z", "ch", "sh")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + "s"


def past_forms(base: str) -> tuple[str, ...]:
    """`inhibited`; both past tense and participle where they differ."""
    if base in _IRREGULAR:
        return _IRREGULAR[base][1]
    if base.endswith("e"):
        return (base + "d",)
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return (base[:-1] + "ied",)
    if base in _DOUBLED:
        return (base + base[-1] + "ed",)
    return (base + "ed",)


def gerund(base: str) -> str:
    """`inhibiting`."""
    if base in _IRREGULAR:
        return _IRREGULAR[base][2]
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith("ee"):
        return base[:-1] + "ing"
    if base in _DOUBLED:
        return base + base[-1] + "ing"
    return base + "ing"
