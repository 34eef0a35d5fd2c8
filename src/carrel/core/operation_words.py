"""English words that finding operations needs: those that say nothing, those that mean the same,
and verbs of two words.
"""

from __future__ import annotations

_STOP_WORDS = (
    "a about again all also am an and any are as at be been by can could did do does for from get "
    "give had has have "
    "how i if in into is it its just let like make me my need now of on or our please should show "
    "so some something "
    "tell than that the their them then there these they this those to us use used want was we "
    "were what when where "
    "which who will with would you your"
    " got gotten im ive dont cant whats thanks thank hi hello hey maybe perhaps really quickly "
    "kindly ll ve re here yet"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())
# Words that people use for the same thing. A sentence that has another word of a group still meets
# the operation, for less.
GROUPS = (
    "delete remove erase drop discard bin throw away trash clear forget purge scrap wipe",
    "find search look lookup locate seek query hunt",
    "open view display read see",
    "save keep store write record remember jot",
    "change edit correct fix update modify amend repair typo rename",
    "export download output dump convert",
    "cancel abort stop kill end terminate quit",
    "pause halt suspend hold wait freeze interrupt",
    "resume continue restart proceed carry unpause",
    "paper article publication manuscript preprint study literature",
    "hypothesis hypotheses idea conjecture theory",
    "library bibliography references",
    "cite citation citing quote",
    "corpus collection",
    "summarise summarize summary overview abstract gist digest tldr nutshell",
    "add import load insert include upload",
    "history version versions revision revisions earlier previous changed",
    "count many number size big statistics stats",
    "share publish promote release",
    "colleagues team everybody everyone group lab coworkers",
    "compare rank tournament order versus better best strongest",
    "review criticise critique assess evaluate judge check verify",
    "rate score grade stars mark",
    "approve accept endorse agree confirm",
    "reject refuse decline dismiss veto disagree",
    "improve refine evolve develop sharpen strengthen enhance",
    "project research run investigation",
    "progress status far finished done ready complete",
    "note notes memo knowledge",
    "author authors writer wrote written researcher",
    "journal venue venues conference",
    "attach link file pdf",
    "job task background",
    "keyword keywords tag tags",
    "frequent common top most",
    "start begin launch initiate commence",
    "generate brainstorm invent create",
    "detach unlink unattach",
)
# A verb and its particle, which may stand some words apart, and the one word that they mean
# together.
PHRASAL_VERBS = (
    ("bring", "in", "import"),
    ("bring", "back", "resume"),
    ("call", "off", "cancel"),
    ("carry", "on", "resume"),
    ("check", "on", "status"),
    ("check", "up on", "status"),
    ("come", "up with", "generate"),
    ("cross", "out", "remove"),
    ("get", "rid of", "remove"),
    ("go", "ahead", "resume"),
    ("go", "on", "resume"),
    ("hand", "in", "submit"),
    ("jot", "down", "save"),
    ("keep", "going", "resume"),
    ("keep", "in mind", "save"),
    ("kick", "off", "start"),
    ("look", "for", "search"),
    ("look", "up", "search"),
    ("note", "down", "save"),
    ("pick", "up", "resume"),
    ("put", "in", "add"),
    ("put", "into", "add"),
    ("put", "on hold", "pause"),
    ("rule", "out", "reject"),
    ("set", "up", "start"),
    ("sign", "off", "approve"),
    ("sum", "up", "summarise"),
    ("take", "back", "remove"),
    ("take", "off", "remove"),
    ("take", "out", "remove"),
    ("think", "up", "generate"),
    ("throw", "away", "remove"),
    ("throw", "out", "remove"),
    ("turn", "down", "reject"),
    ("turn", "into", "convert"),
    ("write", "down", "save"),
    ("write", "out", "export"),
)
