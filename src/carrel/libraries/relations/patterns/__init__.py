"""The word lists that relations are read by: one file for each kind, and those of the grammar."""
