"""How well and how fast things are found, beside plain FTS5, tuned FTS5 and raw tantivy.

    python -m benchmarks.retrieval [BEIR FOLDER] [--data FOLDER] [--keep FOLDER] [--only PART …]

Carrel is asked through its operations behind the gate, as a door asks. What is not built yet, or
whose data is not there, says so in its place.
"""
