"""The words all rooms share. No input or output happens here."""
