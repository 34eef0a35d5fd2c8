"""The scientific field of a goal, inferred from its words."""

from __future__ import annotations

import re

_SIGNS = {
    "neuroscience": r"neuro\w*|brain|cortex|cortical|synap\w+|migraine|alzheimer\w*|parkinson\w*|epilep\w+|cognit\w+|hippocamp\w+",  # noqa: E501
    "medicine": r"patient\w*|disease\w*|treat\w*|therap\w+|clinical|drug\w*|cancer\w*|tumou?r\w*|fibrosis|syndrome\w*|diabet\w+"  # noqa: E501
    r"|leuk\w+|aml|infection\w*|vaccin\w+|hypertens\w+|heart|liver|kidney|raynaud\w*",
    "biology": r"gene\w*|cell\w*|protein\w*|enzym\w+|bacteri\w+|virus\w*|viral|evolution\w*|microb\w+|plant\w*|species|dna|rna|genom\w+"  # noqa: E501
    r"|antimicrobial|immun\w+|metabol\w+|ecolog\w+",
    "chemistry": r"chemi\w+|molecul\w+|cataly\w+|synthes\w+|polymer\w*|reaction\w*|solvent\w*|compound\w*|ligand\w*",  # noqa: E501
    "materials science": r"material\w*|batter(?:y|ies)|alloy\w*|semiconduct\w+|graphene|perovskite\w*|photovoltaic\w*",  # noqa: E501
    "physics": r"physic\w*|quantum|photon\w*|particle\w*|superconduct\w+|plasma|relativ\w+|gravit\w+|laser\w*",  # noqa: E501
    "computer science": r"algorithm\w*|software|neural networks?|machine "
    r"learning|comput\w+|retrieval|language models?|data ?sets?",
    "earth science": r"climate|ocean\w*|geolog\w+|atmospher\w+|seism\w+|glaci\w+|weather",
    "social science": r"society|social|econom\w+|policy|policies|education\w*|political|psycholog\w+|behaviou?r\w*",  # noqa: E501
}
_PATTERNS = {
    domain: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for domain, words in _SIGNS.items()
}


def infer_domain(goal: str) -> str:
    """The field with the most words in the goal, the first of equals; `general` if it has none."""
    counts = {domain: len(pattern.findall(goal)) for domain, pattern in _PATTERNS.items()}
    best = max(counts, key=lambda domain: counts[domain])
    return best if counts[best] else "general"
