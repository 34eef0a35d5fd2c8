"""Which DOIs are those of preprints."""

from __future__ import annotations

# Facts sheet of issue 16, section 5: bioRxiv and medRxiv, openRxiv, arXiv, Research Square, SSRN,
# OSF (two), ChemRxiv, Preprints.org.
PREPRINT_PREFIXES = frozenset(
    {
        "10.1101",
        "10.64898",
        "10.48550",
        "10.21203",
        "10.2139",
        "10.31219",
        "10.31234",
        "10.26434",
        "10.20944",
    }
)


def is_preprint_doi(doi: str) -> bool:
    """Whether a DOI, in the form of `libraries.identifiers`, is of a server of preprints."""
    return doi.partition("/")[0] in PREPRINT_PREFIXES
