"""Notes and nodes in Firestore, in collections that other programs may read and write too."""

from google.cloud.firestore_v1 import AsyncClient

from carrel.rooms.knowledge.ports import KnowledgeStores
from carrel.stores.firestore.knowledge.nodes import FirestoreNodeStore
from carrel.stores.firestore.knowledge.notes import FirestoreNoteStore

__all__ = ["FirestoreNodeStore", "FirestoreNoteStore", "firestore_knowledge"]


def firestore_knowledge(project: str | None, database: str | None) -> KnowledgeStores:
    """The client itself finds FIRESTORE_EMULATOR_HOST and the credentials of the machine."""
    notes = FirestoreNoteStore(lambda: AsyncClient(project=project, database=database))
    return KnowledgeStores(notes, FirestoreNodeStore(notes))
