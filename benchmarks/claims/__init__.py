"""How well claims are checked: papers, sentences, stances and verdicts on SciFact's claims.

    python -m benchmarks.claims [FOLDER] [--keep FOLDER] [--mind FILE [--answers FILE]]
    python -m benchmarks.claims.fit [FOLDER] [--keep FOLDER]

Papers are found by Carrel's own search behind the gate. Numbers are chosen on one half of the
claims and reported on the other.
"""
