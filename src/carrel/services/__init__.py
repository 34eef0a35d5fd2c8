"""The outside world that is not a store, one folder each, with no decisions."""
