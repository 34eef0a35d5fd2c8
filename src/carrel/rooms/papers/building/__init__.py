"""Making a corpus: which sources to read, which records are one paper, and what the snapshot then
says.
"""
