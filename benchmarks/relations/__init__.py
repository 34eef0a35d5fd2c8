"""Relations between concepts: how well they are read from sentences that people labelled."""
