"""What MARC's relators, as codes or words, are among CSL's roles; MODS uses the same."""

ROLES = {
    "aut": "author", "cre": "author", "art": "author", "inv": "author", "prg": "author",
    "ive": "author", "pht": "author", "ctg": "author", "rpy": "author", "spk": "author",
    "edt": "editor", "edc": "editor", "edm": "editor", "hrsg": "editor", "pbd": "editor",
    "red": "editor", "trl": "translator", "ill": "illustrator", "ctb": "contributor",
    "com": "compiler", "cmp": "composer", "drt": "director", "fmd": "director",
    "tld": "director", "prf": "performer", "act": "performer", "sng": "performer",
    "mus": "performer", "cnd": "performer", "nrt": "narrator", "pro": "producer",
    "fmp": "producer", "ivr": "interviewer", "aus": "script-writer", "rcp": "recipient",
    "cur": "curator", "orm": "organizer", "hst": "host", "aui": "contributor",
    "aft": "contributor", "wpr": "contributor", "ann": "contributor", "cwt": "contributor",
    "adp": "contributor", "col": "contributor", "clb": "contributor",
}  # fmt: skip
WORDS = {
    "author": "author", "creator": "author", "artist": "author", "inventor": "author",
    "programmer": "author", "interviewee": "author", "photographer": "author",
    "cartographer": "author", "speaker": "author", "verfasser": "author",
    "verfasserin": "author", "verfasserin.": "author", "auteur": "author", "autor": "author",
    "joint author": "author", "editor": "editor", "ed": "editor", "eds": "editor",
    "joint editor": "editor", "herausgeber": "editor", "herausgeberin": "editor",
    "hrsg": "editor", "hg": "editor", "redaktor": "editor", "editor of compilation": "editor",
    "translator": "translator", "tr": "translator", "übersetzer": "translator",
    "übersetzerin": "translator", "traducteur": "translator", "illustrator": "illustrator",
    "ill": "illustrator", "illus": "illustrator", "illustrateur": "illustrator",
    "trans": "translator", "transl": "translator", "übers": "translator",
    "contributor": "contributor", "mitwirkender": "contributor", "compiler": "compiler",
    "comp": "compiler", "composer": "composer", "komponist": "composer",
    "director": "director", "film director": "director", "regisseur": "director",
    "performer": "performer", "actor": "performer", "singer": "performer",
    "conductor": "performer", "narrator": "narrator", "producer": "producer",
    "film producer": "producer", "interviewer": "interviewer",
    "screenwriter": "script-writer", "recipient": "recipient", "addressee": "recipient",
    "curator": "curator", "organizer": "organizer", "host": "host",
    "series editor": "collection-editor",
}  # fmt: skip


def read_role(codes: list[str], words: list[str]) -> tuple[str, str]:
    """The role that relators say, empty where it is none that is cited, and what they say."""
    written = [code.strip().rstrip(".").lower().rsplit("/", 1)[-1] for code in codes]
    said = [word.strip(" .,;()").lower() for word in words]
    found = next((ROLES[code] for code in written if code in ROLES), "") or next(
        (WORDS[word] for word in said if word in WORDS), ""
    )
    return found, next(filter(None, [*written, *said]), "").replace(" ", "-")
