"""Literature-based discovery: hypotheses with no model, from what papers say together and apart."""

from carrel.rooms.research.discovery.chunks import Chunk, ChunkReader, read_chunk
from carrel.rooms.research.discovery.connections import (
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
from carrel.rooms.research.discovery.errors import GoalNotInCorpusError, NoConnectionError
from carrel.rooms.research.discovery.evolution import NothingToEvolveError, evolve
from carrel.rooms.research.discovery.generation import Discovery
from carrel.rooms.research.discovery.goals import GoalReading
from carrel.rooms.research.discovery.index import ConceptIndex
from carrel.rooms.research.discovery.kinds import kind_of
from carrel.rooms.research.discovery.layout import Request
from carrel.rooms.research.discovery.links import Link, LinkJudgement, weakest_link
from carrel.rooms.research.discovery.ports import (
    ConceptRow,
    Corpus,
    DocumentRow,
    IndexStore,
    Mapper,
)
from carrel.rooms.research.discovery.protocols import ExperimentalProtocol
from carrel.rooms.research.discovery.records import Concept, Kind, Paper, Standing
from carrel.rooms.research.discovery.rendering import HypothesisText, render
from carrel.rooms.research.discovery.review import (
    LinkCheck,
    Review,
    ReviewType,
    Scores,
    review,
    score,
)
from carrel.rooms.research.discovery.vocabulary import Sphere, Term, Vocabulary

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
