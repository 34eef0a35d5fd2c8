"""Which BibTeX and BibLaTeX types and fields are which CSL types and variables."""

TYPES = {
    "article": "article-journal", "suppperiodical": "article-journal", "review": "review",
    "book": "book", "mvbook": "book", "booklet": "pamphlet", "bookinbook": "chapter",
    "inbook": "chapter", "incollection": "chapter", "suppbook": "chapter",
    "suppcollection": "chapter", "collection": "book", "mvcollection": "book", "reference": "book",
    "mvreference": "book", "inreference": "entry-encyclopedia", "proceedings": "book",
    "mvproceedings": "book", "inproceedings": "paper-conference", "conference": "paper-conference",
    "periodical": "periodical", "manual": "report", "techreport": "report", "report": "report",
    "misc": "document", "online": "webpage", "electronic": "webpage", "www": "webpage",
    "webpage": "webpage", "website": "webpage", "patent": "patent", "thesis": "thesis",
    "phdthesis": "thesis", "mastersthesis": "thesis", "masterthesis": "thesis",
    "unpublished": "manuscript", "preprint": "article", "dataset": "dataset",
    "software": "software", "artwork": "graphic", "image": "graphic", "audio": "song",
    "music": "song", "video": "motion_picture", "movie": "motion_picture", "film": "motion_picture",
    "letter": "personal_communication", "performance": "performance", "standard": "standard",
    "legislation": "legislation", "legal": "treaty", "jurisdiction": "legal_case",
    "commentary": "chapter", "newspaper": "article-newspaper", "magazine": "article-magazine",
    "presentation": "speech", "map": "map", "hearing": "hearing", "bill": "bill",
    "interview": "interview", "figure": "figure", "encyclopedia": "entry-encyclopedia",
    "blog": "post-weblog",
}  # fmt: skip
SUBTYPES = {
    "newspaper": "article-newspaper", "newspaperarticle": "article-newspaper",
    "magazine": "article-magazine", "magazinearticle": "article-magazine", "film": "motion_picture",
    "tvbroadcast": "broadcast", "tvepisode": "broadcast", "radiobroadcast": "broadcast",
    "podcast": "broadcast",
}  # fmt: skip
GENRES = {
    "phdthesis": "PhD thesis",
    "mastersthesis": "Master's thesis",
    "masterthesis": "Master's thesis",
    "manual": "manual",
}
GENRE_WORDS = {
    "phdthesis": "PhD thesis", "mathesis": "Master's thesis", "mastersthesis": "Master's thesis",
    "bathesis": "Bachelor's thesis", "techreport": "technical report",
    "resreport": "research report", "candthesis": "Cand. thesis",
    "patreqeu": "European patent request", "patenteu": "European patent", "patentus": "U.S. patent",
    "patentde": "German patent", "patentfr": "French patent", "patentuk": "British patent",
    "software": "software", "datacd": "data CD", "audiocd": "audio CD",
}  # fmt: skip
PATENT_OFFICES = {
    "patenteu": "EP", "patentus": "US", "patentde": "DE", "patentfr": "FR", "patentuk": "GB",
    "patreqeu": "EP", "patreqde": "DE", "patrequs": "US",
}  # fmt: skip

NAME_FIELDS = {
    "author": "author", "editor": "editor", "translator": "translator",
    "bookauthor": "container-author", "director": "director", "collaborator": "contributor",
    "contributor": "contributor", "reviewer": "reviewed-author", "interviewer": "interviewer",
    "recipient": "recipient", "scriptwriter": "script-writer", "composer": "composer",
    "illustrator": "illustrator", "performer": "performer", "narrator": "narrator",
    "producer": "producer", "compiler": "compiler", "serieseditor": "collection-editor",
}  # fmt: skip
EDITOR_TYPES = {
    "director": "director", "producer": "producer", "collaborator": "contributor",
    "compiler": "compiler", "illustrator": "illustrator", "organizer": "organizer",
    "performer": "performer", "translator": "translator", "scriptwriter": "script-writer",
    "narrator": "narrator", "composer": "composer", "curator": "curator",
    "serieseditor": "collection-editor",
}  # fmt: skip

# Text without markup: BibTeX field -> CSL variable; fields.py has what depends on the type.
PLAIN_FIELDS = {
    "volume": "volume", "volumes": "number-of-volumes", "edition": "edition", "isbn": "ISBN",
    "issn": "ISSN", "chapter": "chapter-number", "pagetotal": "number-of-pages",
    "numpages": "number-of-pages", "version": "version", "part": "part-number",
    "pubstate": "status", "library": "archive", "database": "archive", "callnumber": "call-number",
    "call-number": "call-number", "venue": "event-place", "eventplace": "event-place",
    "copyright": "license", "license": "license", "rights": "license", "scale": "scale",
    "origpublisher": "original-publisher", "origlocation": "original-publisher-place",
    "shortjournal": "container-title-short", "journal-iso": "container-title-short", "pmid": "PMID",
    "medium": "medium", "year-suffix": "year-suffix", "archive_location": "archive_location",
}  # fmt: skip
RICH_FIELDS = {"abstract": "abstract", "annote": "annote", "annotation": "annote"}
TITLE_FIELDS = {
    "shorttitle": "title-short",
    "origtitle": "original-title",
    "eventtitle": "event-title",
    "conference": "event-title",
}
DATE_FIELDS = {"origdate": "original-date", "eventdate": "event-date", "urldate": "accessed"}

# Older names for the day on which a link was followed; kept as they are where it is no date.
ACCESSED_FIELDS = frozenset(
    {"lastchecked", "lastaccessed", "accessed", "accessdate", "access-date"}
)
KEYWORD_FIELDS = ("keywords", "keyword", "mendeley-tags", "tags")

# Verbatim fields: nothing in them is TeX.
VERBATIM_FIELDS = frozenset(
    {"url", "doi", "eprint", "file", "ids", "pdf", "adsurl", "groups", "link", "ee", "biburl"}
)

# Fields that steer BibLaTeX or were used up; they say nothing about the work.
IGNORED_FIELDS = frozenset({
    "crossref", "xdata", "entrysubtype", "editortype", "editoratype", "editorbtype", "editorctype",
    "langid", "archiveprefix", "eprinttype", "primaryclass", "eprintclass",
})  # fmt: skip
