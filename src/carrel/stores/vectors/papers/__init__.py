"""The vectors of a paper snapshot, in the folder beside it."""
