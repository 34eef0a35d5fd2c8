"""Which RIS reference types and tags are which CSL types and variables."""

TYPES = {
    "JOUR": "article-journal", "JFULL": "periodical", "EJOUR": "article-journal",
    "MGZN": "article-magazine",
    "NEWS": "article-newspaper",
    "ABST": "article-journal", "INPR": "article-journal", "BOOK": "book", "EBOOK": "book",
    "EDBOOK": "book", "CHAP": "chapter",
    "ECHAP": "chapter",
    "CONF": "book", "CPAPER": "paper-conference", "THES": "thesis", "RPRT": "report",
    "GOVDOC": "report", "STAND": "standard",
    "PAT": "patent",
    "ELEC": "webpage", "WEB": "webpage", "ICOMM": "post", "BLOG": "post-weblog", "COMP": "software",
    "DATA": "dataset",
    "DBASE": "dataset",
    "AGGR": "dataset", "GEN": "document", "MISC": "document", "UNPB": "manuscript",
    "MANSCPT": "manuscript",
    "PAMP": "pamphlet", "MAP": "map",
    "ART": "graphic", "FIGURE": "figure", "CHART": "figure", "EQUA": "figure", "SLIDE": "speech",
    "HEAR": "hearing",
    "BILL": "bill",
    "UNBILL": "bill", "STAT": "legislation", "LEGAL": "legislation", "CASE": "legal_case",
    "ENCYC": "entry-encyclopedia",
    "DICT": "entry-dictionary",
    "MPCT": "motion_picture", "VIDEO": "motion_picture", "ADVS": "motion_picture",
    "MULTI": "motion_picture", "SOUND": "song",
    "MUSIC": "musical_score",
    "PCOMM": "personal_communication", "SER": "periodical", "CLSWK": "classic",
    "ANCIENT": "classic", "BLOGP": "post-weblog",
    "PREPRINT": "article",
    "INTV": "interview", "PODCAST": "broadcast", "DISS": "thesis", "CTLG": "book",
    "JOURNAL": "article-journal",
    "CATALOG": "book",
}  # fmt: skip

# For writing: the RIS type of each CSL type.
TYPES_WRITTEN = {
    "article-journal": "JOUR", "article": "PREPRINT", "article-magazine": "MGZN",
    "article-newspaper": "NEWS", "book": "BOOK",
    "chapter": "CHAP",
    "paper-conference": "CPAPER", "thesis": "THES", "report": "RPRT", "standard": "STAND",
    "patent": "PAT", "webpage": "WEB",
    "post": "ICOMM",
    "post-weblog": "BLOG", "software": "COMP", "dataset": "DATA", "document": "GEN",
    "manuscript": "UNPB", "pamphlet": "PAMP",
    "map": "MAP",
    "graphic": "ART", "figure": "FIGURE", "speech": "SLIDE", "hearing": "HEAR", "bill": "BILL",
    "legislation": "STAT",
    "legal_case": "CASE",
    "entry-encyclopedia": "ENCYC", "entry-dictionary": "DICT", "motion_picture": "MPCT",
    "song": "SOUND",
    "musical_score": "MUSIC",
    "personal_communication": "PCOMM", "periodical": "JFULL", "classic": "CLSWK",
    "interview": "INTV", "broadcast": "PODCAST",
    "entry": "ENCYC",
    "review": "JOUR", "review-book": "JOUR",
}  # fmt: skip

PARTS = frozenset(
    {"chapter", "paper-conference", "entry-encyclopedia", "entry-dictionary", "entry"}
)
ARTICLES = frozenset({
    "article-journal", "article-magazine", "article-newspaper", "periodical", "article", "review",
    "document", "webpage",
    "post-weblog",
})  # fmt: skip

# Tags that mean the same wherever they stand.
PLAIN_TAGS = {
    "VL": "volume", "PB": "publisher", "CY": "publisher-place", "PP": "publisher-place",
    "ET": "edition", "LA": "language",
    "DB": "archive",
    "DP": "source", "CN": "call-number", "ST": "title-short", "NV": "number-of-volumes",
    "SE": "section", "RI": "reviewed-title",
    "OP": "original-title", "AV": "archive_location",
}  # fmt: skip
# Tags without a variable, under names that say what they are.
KEPT_TAGS = {
    "AD": "author-address", "AN": "accession-number", "CA": "caption", "RN": "research-notes",
    "RP": "reprint-edition",
    "SV": "series-volume",
    "TA": "translated-author", "TT": "translated-title", "C1": "custom1", "C2": "custom2",
    "C3": "custom3", "C4": "custom4",
    "C5": "custom5", "C6": "custom6",
    "C7": "custom7", "C8": "custom8", "U1": "user1", "U2": "user2", "U3": "user3", "U4": "user4",
    "U5": "user5", "M1": "m1",
    "M2": "m2",
}  # fmt: skip
