"""Literature-based discovery: hypotheses with no model, from what papers say together and apart."""

from carrel.libraries.discovery.connection_builder import Request
from carrel.libraries.discovery.connections import (
    Arm,
    Bench,
    BridgeEvidence,
    CandidateConnection,
    Evidence,
    EvolutionStrategy,
    GenerationMethod,
    NoveltySearch,
    Origin,
    Place,
    Relevance,
    Testing,
    TestMethod,
    Turn,
)
from carrel.libraries.discovery.errors import GoalNotInCorpusError, NoConnectionError
from carrel.libraries.discovery.evolution import NothingToEvolveError, evolve
from carrel.libraries.discovery.extraction import Chunk, ChunkReader, read_chunk
from carrel.libraries.discovery.generation import Discovery
from carrel.libraries.discovery.goals import GoalReading
from carrel.libraries.discovery.index import ConceptIndex
from carrel.libraries.discovery.kinds import kind_of
from carrel.libraries.discovery.links import Link, LinkJudgement, weakest_link
from carrel.libraries.discovery.protocols import ExperimentalProtocol
from carrel.libraries.discovery.records import (
    Concept,
    ConceptRow,
    Corpus,
    DocumentRow,
    IndexStore,
    Kind,
    Mapper,
    Paper,
    Standing,
)
from carrel.libraries.discovery.rendering import HypothesisText, render
from carrel.libraries.discovery.review import (
    LinkCheck,
    Review,
    ReviewType,
    Scores,
    review,
    score,
)
from carrel.libraries.discovery.vocabulary import Sphere, Term, Vocabulary

__all__ = [
    "Arm",
    "Bench",
    "BridgeEvidence",
    "CandidateConnection",
    "Chunk",
    "ChunkReader",
    "Concept",
    "ConceptIndex",
    "ConceptRow",
    "Corpus",
    "Discovery",
    "DocumentRow",
    "Evidence",
    "EvolutionStrategy",
    "ExperimentalProtocol",
    "GenerationMethod",
    "GoalNotInCorpusError",
    "GoalReading",
    "HypothesisText",
    "IndexStore",
    "Kind",
    "Link",
    "LinkCheck",
    "LinkJudgement",
    "Mapper",
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
    "Turn",
    "Vocabulary",
    "evolve",
    "kind_of",
    "read_chunk",
    "render",
    "review",
    "score",
    "weakest_link",
]
