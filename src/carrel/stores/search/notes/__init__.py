"""The index of notes: a cache that follows the store of notes, ranked by what a reader may see."""
