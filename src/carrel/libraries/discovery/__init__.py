"""Literature-based discovery: hypotheses with no model, from what papers say together and apart."""

from carrel.libraries.discovery.concepts.extraction import read_chunk
from carrel.libraries.discovery.concepts.index import ConceptIndex
from carrel.libraries.discovery.concepts.kinds import kind_of
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary
from carrel.libraries.discovery.connections.builder import Request
from carrel.libraries.discovery.connections.candidates import (
    Arm,
    Bench,
    BridgeEvidence,
    CandidateConnection,
    Evidence,
    EvolutionStrategy,
    GenerationMethod,
    NoveltySearch,
    Origin,
    Relevance,
    ReviewType,
    Testing,
    TestMethod,
)
from carrel.libraries.discovery.connections.links import LinkJudgement, weakest_link
from carrel.libraries.discovery.errors import (
    GoalNotInCorpusError,
    NoConnectionError,
    NothingToEvolveError,
)
from carrel.libraries.discovery.generation.discovery import Discovery
from carrel.libraries.discovery.generation.evolution import evolve
from carrel.libraries.discovery.goals.records import GoalReading
from carrel.libraries.discovery.records import (
    Concept,
    ConceptRow,
    DocumentRow,
    Kind,
    Paper,
    Place,
    Sphere,
    Standing,
    Term,
)
from carrel.libraries.discovery.review import Review, Scores, review, score
from carrel.libraries.discovery.writing.rendering import render

__all__ = [
    "Arm",
    "Bench",
    "BridgeEvidence",
    "CandidateConnection",
    "Concept",
    "ConceptIndex",
    "ConceptRow",
    "Discovery",
    "DocumentRow",
    "Evidence",
    "EvolutionStrategy",
    "GenerationMethod",
    "GoalNotInCorpusError",
    "GoalReading",
    "Kind",
    "LinkJudgement",
    "NoConnectionError",
    "NothingToEvolveError",
    "NoveltySearch",
    "Origin",
    "Paper",
    "Place",
    "Relevance",
    "Request",
    "Review",
    "ReviewType",
    "Scores",
    "Sphere",
    "Standing",
    "Term",
    "TestMethod",
    "Testing",
    "Vocabulary",
    "evolve",
    "kind_of",
    "read_chunk",
    "render",
    "review",
    "score",
    "weakest_link",
]
