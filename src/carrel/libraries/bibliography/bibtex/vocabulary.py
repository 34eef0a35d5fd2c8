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
# Names that Mendeley, Zotero, EndNote and people give to types, without blanks and underscores.
TYPE_ALIASES = {
    "journalarticle": "article-journal", "journalpaper": "article-journal",
    "newspaperarticle": "article-newspaper", "newsarticle": "article-newspaper",
    "news": "article-newspaper", "magazinearticle": "article-magazine",
    "booksection": "chapter", "bookchapter": "chapter", "chapter": "chapter",
    "conferencepaper": "paper-conference", "inconference": "paper-conference",
    "conferenceproceedings": "book", "editedbook": "book", "encyclopediaarticle":
    "entry-encyclopedia", "dictionaryentry": "entry-dictionary", "dictionary": "entry-dictionary",
    "webarticle": "webpage", "internet": "webpage", "url": "webpage", "blogpost": "post-weblog",
    "forumpost": "post", "post": "post", "computerprogram": "software", "program": "software",
    "code": "software", "softwareversion": "software", "softwaremodule": "software",
    "data": "dataset", "database": "dataset", "videorecording": "motion_picture",
    "audiorecording": "song", "sound": "song", "televisionbroadcast": "broadcast",
    "tvbroadcast": "broadcast", "radiobroadcast": "broadcast", "podcast": "broadcast",
    "statute": "legislation", "law": "legislation", "case": "legal_case", "court": "legal_case",
    "caselaw": "legal_case", "treaty": "treaty", "regulation": "regulation",
    "email": "personal_communication", "instantmessage": "personal_communication",
    "personalcommunication": "personal_communication", "talk": "speech", "slides": "speech",
    "lecture": "speech", "speech": "speech", "poster": "speech", "manuscript": "manuscript",
    "workingpaper": "report", "whitepaper": "report", "technicalreport": "report",
    "techrep": "report", "rfc": "report", "dissertation": "thesis", "phd": "thesis",
    "doctoralthesis": "thesis", "diplomathesis": "thesis", "diploma": "thesis",
    "bachelorthesis": "thesis", "bachelorsthesis": "thesis", "bathesis": "thesis",
    "bscthesis": "thesis", "mscthesis": "thesis", "mathesis": "thesis", "habilitation": "thesis",
    "norm": "standard", "journal": "periodical", "painting": "graphic", "photograph": "graphic",
    "event": "event", "exhibition": "event",
}  # fmt: skip
# Types that a subtype may make more exact.
SUBTYPED = frozenset({
    "article-journal", "motion_picture", "song", "webpage", "document", "manuscript", "report",
    "broadcast",
})  # fmt: skip
SUBTYPES = {
    "newspaper": "article-newspaper", "newspaperarticle": "article-newspaper",
    "magazine": "article-magazine", "magazinearticle": "article-magazine", "film": "motion_picture",
    "tvbroadcast": "broadcast", "tvepisode": "broadcast", "radiobroadcast": "broadcast",
    "podcast": "broadcast", "blogpost": "post-weblog", "blog": "post-weblog", "forumpost": "post",
    "presentation": "speech", "letter": "personal_communication",
    "email": "personal_communication", "interview": "interview", "map": "map",
    "preprint": "article", "dataset": "dataset", "manuscript": "manuscript",
    "encyclopediaarticle": "entry-encyclopedia", "dictionaryentry": "entry-dictionary",
}  # fmt: skip
GENRES = {
    "phdthesis": "PhD thesis",
    "mastersthesis": "Master's thesis",
    "masterthesis": "Master's thesis",
    "mscthesis": "Master's thesis",
    "mathesis": "Master's thesis",
    "dissertation": "Dissertation",
    "phd": "PhD thesis",
    "doctoralthesis": "PhD thesis",
    "diplomathesis": "Diploma thesis",
    "diploma": "Diploma thesis",
    "bachelorthesis": "Bachelor's thesis",
    "bachelorsthesis": "Bachelor's thesis",
    "bathesis": "Bachelor's thesis",
    "bscthesis": "Bachelor's thesis",
    "habilitation": "Habilitation",
    "manual": "manual",
    "poster": "poster",
    "slides": "slides",
    "workingpaper": "working paper",
    "whitepaper": "white paper",
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

# BibLaTeX's keys for words that its styles translate.
PUBLICATION_STATES = {
    "inpress": "in press", "inpreparation": "in preparation", "submitted": "submitted",
    "forthcoming": "forthcoming", "prepublished": "prepublished",
}  # fmt: skip
COUNTRIES = {
    "countryde": "Germany", "countryeu": "European Union", "countryep": "European Union",
    "countryfr": "France", "countryuk": "United Kingdom", "countryus": "United States",
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
    "crossref", "xdata", "editortype", "editoratype", "editorbtype", "editorctype",
    "langid", "archiveprefix", "eprinttype", "primaryclass", "eprintclass",
})  # fmt: skip
