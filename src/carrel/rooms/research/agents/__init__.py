"""The agents: each does one kind of work, with whichever mind is there."""
