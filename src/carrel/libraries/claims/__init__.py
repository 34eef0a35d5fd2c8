"""Check claims against papers: statements, deciding sentences, stances, verdicts with reasons."""

from carrel.libraries.claims.denials import (
    Denial,
    StatedEffect,
    compare_effects,
    read_effects,
)
from carrel.libraries.claims.matching import (
    PAPERS_PER_QUERY,
    PAPERS_READ,
    choose_papers,
    fuse_rankings,
    rank_sentences,
    write_queries,
)
from carrel.libraries.claims.paper_texts import read_text
from carrel.libraries.claims.records import (
    TITLE,
    Finding,
    PaperText,
    RankedSentence,
    Relation,
    Stance,
    Statement,
    StatementCheck,
    StatementKind,
    Verdict,
)
from carrel.libraries.claims.stance import judge_stance
from carrel.libraries.claims.statements import (
    MAX_TEXT_CHARACTERS,
    TextTooLongError,
    split_statements,
)
from carrel.libraries.claims.verdicts import check_statement

__all__ = [
    "MAX_TEXT_CHARACTERS",
    "PAPERS_PER_QUERY",
    "PAPERS_READ",
    "TITLE",
    "Denial",
    "Finding",
    "PaperText",
    "RankedSentence",
    "Relation",
    "Stance",
    "StatedEffect",
    "Statement",
    "StatementCheck",
    "StatementKind",
    "TextTooLongError",
    "Verdict",
    "check_statement",
    "choose_papers",
    "compare_effects",
    "fuse_rankings",
    "judge_stance",
    "rank_sentences",
    "read_effects",
    "read_text",
    "split_statements",
    "write_queries",
]
