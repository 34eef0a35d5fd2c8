"""The fast index of a paper snapshot, in a folder beside it."""
