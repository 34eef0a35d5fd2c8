"""Notes and nodes in Firestore, in collections that other programs may read and write too."""

from carrel.stores.firestore.knowledge.nodes import FirestoreNodeStore
from carrel.stores.firestore.knowledge.notes import FirestoreNoteStore

__all__ = ["FirestoreNodeStore", "FirestoreNoteStore"]
