"""The outside world, one idea a file, with no decisions."""
