"""A grid of backends by room: the same file names in each."""
