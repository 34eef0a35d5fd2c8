"""Everything embedded in one file, and back."""
