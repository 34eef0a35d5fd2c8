"""Odd values as real files have them, by family: what the judge draws from."""

# A piece of a title, or of any text in which TeX is read.
TEXTS = {
    "braces around an acronym": ["{DNA}", "{{NASA}}", "{mRNA}", "{TCP/IP}", "{3D}", "{e-Health}"],
    "braces inside a word": ["{A}pis", "{\\LaTeX}ing", "{B}ayes", "anti-{RNA}", "{K}{\\'e}pler"],
    "braces around words": ["{New York}", "{the U.S. Army}", "{Max {P}lanck}", "{von Neumann}"],
    "accent": [
        "Caf{\\'e}", 'na\\"{\\i}ve', "{\\'E}cole", "Se\\~{n}or", "\\v{C}apek", "{\\c{c}}a",
        "gar\\c con", "{\\H o}", "\\'{\\i}lo", 'M{\\"{u}}ller', "\\k{a}", "\\d{h}", "\\u{g}",
        "\\.{z}", "\\r{u}", "\\={a}", "\\^{\\i}le", "\\`a", "\\b{d}",
    ],
    "letter": [
        "{\\o}re", "\\O{}sterbro", "Stra{\\ss}e", "{\\ae}on", "\\L{}\\'od\\'z",
        '{\\AA}ngstr\\"om', "\\OE uvre", "\\dh{}ing", "{\\th}orn", "\\dj{}ak", "\\NG{}",
    ],
    "markup": [
        "\\emph{Homo sapiens}", "\\textit{E.~coli}", "{\\em Drosophila}", "{\\it in vivo}",
        "\\textbf{Bold}", "{\\bf Bold}", "\\textsc{Caps}", "{\\sc Caps}", "\\textsubscript{sub}",
        "\\textsuperscript{sup}", "\\mkbibemph{stress}", "\\textsl{slanted}",
        "{\\itshape Zea mays}", "\\emph{outer \\emph{inner} outer}", "\\textit{\\textbf{both}}",
        "\\underline{under}", "\\texttt{code}", "{\\tt code}",
    ],
    "mathematics": [
        "$\\alpha$", "H$_2$O", "$x^2$", "$10^{-3}$", "CO$_{2}$", "$\\beta$-Carotene",
        "$n \\leq 3$", "\\ensuremath{\\gamma}", "$^{14}$C", "$\\mathrm{NO}_x$", "$\\pm 5$",
        "\\(a+b\\)", "$\\sim$20", "$\\mu$m", "$k$-Means", "Fe$^{3+}$", "$\\sqrt{n}$",
        "$O(n \\log n)$", "$\\frac{1}{2}$", "$\\mathbf{x}$", "$\\infty$", "$a_{ij}$",
        "$\\rightarrow$",
    ],
    "quotation marks": [
        "``Double''", "`Single'", "``Outer `Inner' Again''", "\\enquote{Quoted}",
        "\\glqq Da\\grqq{}", '"Plain"', "Don't", "Players'",
        "{\\textquotedblleft}T{\\textquotedblright}", "\\textquoteright{}s", "'90s",
        "``Whole?''", "\\mkbibquote{Quoted}", "{``}Braced{''}",
    ],
    "dashes": [
        "One -- Two", "One---Two", "1990--2000", "Non-Linear", "One \\textendash{} Two",
        "One {--} Two", "well\\nobreakdash-known", "One {\\textemdash} Two",
    ],
    "signs": [
        "R\\&D", "100\\%", "\\#1", "C\\_1", "\\$5", "C\\#", "A \\textbackslash{} B",
        "a\\slash b", "\\copyright{} 2000", "\\texttrademark", "\\dots", "\\ldots{}", "5\\,km",
        "e.g.\\ this", "Fig.~1", "A~B", "\\S~5", "\\pounds 5", "\\texteuro{}5", "\\textdegree C",
        "\\textregistered", "\\textasciitilde", "\\textmu m", "{\\textperiodcentered}",
        "\\textbullet", "a\\/b", "AT\\&T", "\\-hyphen\\-ation",
        "{\\guillemotleft}x{\\guillemotright}", "<5", "x > y",
    ],
    "rare commands": [
        "\\uppercase{a}", "\\mbox{X Y}", "\\hbox{Z}", "\\foreignlanguage{french}{mot}",
        "\\href{http://a.org}{Site}", "\\url{http://a.org/x_y}", "{\\noopsort{b}}B",
        "\\textcolor{red}{Red}", "\\footnote{Foot}", "\\textquestiondown", "\\unknown{shown}",
        "\\texorpdfstring{$\\alpha$}{alpha}", "\\textnormal{x}", "\\textrm{x}", "\\lowercase{A}",
        "\\relax{}x", "{\\aa}ngstrom", "\\textgreek{x}", "\\linebreak{}x", "\\protect\\emph{x}",
        "\\MakeUppercase{x}", "\\nocite{x}",
    ],
    "Unicode": [
        "Größe", "naïve", "日本語", "Ελληνικά", "Русский", "été", "x–y", "“q”", "H₂O", "\xa0x",
        "ﬁnd",
    ],
    "nothing odd": ["Ordinary", "Networks", "iPhone", "McDonald", "COVID-19", "U.S.", "XML"],
}  # fmt: skip

# Whole titles, whose case and outer braces are what is odd.
TITLES = {
    "title case": [
        "The Structure of Scientific Revolutions", "A Theory of Justice: An Introduction",
        "Is Google Making Us Stupid? What the Internet Does", "On the Origin of Species",
        "Deep Learning for 3D Point Clouds - A Survey", "To Be or Not to Be",
    ],
    "sentence case": [
        "The structure of scientific revolutions", "A theory of justice: an overview",
    ],
    "capitals": ["THE STRUCTURE OF SCIENTIFIC REVOLUTIONS", "WAR AND PEACE"],
    "outer braces": [
        "{The Structure of Scientific Revolutions}", "{{A Theory of Justice}}",
        "{On} the {Origin}", "{On the origin of species}",
    ],
    "proper nouns": [
        "Trade Between {China} and {Japan} After the {Cold War}", "The {E}nglish {R}eformation",
        "Learning {English} {B}oltzmann Machines",
    ],
    "hyphens": [
        "Self-Organizing Maps and Non-Linear State-Of-The-Art Systems",
        "Peer-to-Peer Networks: X-Ray-Based Analyses",
    ],
}  # fmt: skip

NAMES = {
    "family first": ["Doe, Jane", "Doe, Jane Q.", "Doe, J. Q.", "Doe, J.Q.", "Doe, J.-P."],
    "given first": [
        "Jane Doe", "Jane Q. Doe", "J. Q. Doe", "John Smith Doe", "Donald E. Knuth",
    ],
    "particle": [
        "van der Berg, Jan", "Jan van der Berg", "de la Cruz, Ana", "Ludwig van Beethoven",
        "von Neumann, John", "Charles de Gaulle", "De Gaulle, Charles", "Vincent Van Gogh",
        "al-Khwarizmi, Muhammad", "d'Alembert, Jean", "Jean d'Alembert", "della Porta, Gian",
        "Berg, Jan van den", "van den {Ber}g, A.", "{van der Berg}, Jan", "{Van} Berg, Jan",
        "Charles Louis Xavier Joseph de la Vall{\\'e}e Poussin", "Von Der Leyen, Ursula",
    ],
    "suffix": [
        "Doe, Jr, John", "Doe, Jr., John", "{Doe, Jr.}, John", "Doe, III, Harry",
        "von Last, Jr, First", "John Doe, Jr.",
    ],
    "institution": [
        "{World Health Organization}", "{Smith and Sons}", "{{NASA}}", "{UNESCO}",
        "{Barnes {\\&} Noble}", "Plato", "{\\'E}cole", '{Institut f{\\"u}r X}, Berlin',
    ],
    "TeX": [
        'M{\\"u}ller, J{\\\'o}zef', "{\\O}stby, K.", 'G{\\"o}del, Kurt', "Erd\\H{o}s, P.",
        "{\\relax Ch}ristopher Doe", "Doe, {\\relax Yu}ri", "Ole-J. {\\AA}s", "Ha{\\v s}ek, J.",
        "{\\L}ukasiewicz, J.", "Garc{\\'\\i}a, M.", "Garc\\'{\\i}a M\\'{a}rquez, G.",
        "O{'}Neil, P.", "O'Neil, P.", "Pierre~Doe", "Doe, J.~Q.", "{Mac}Donald, A.",
    ],
    "et al.": ["Doe, Jane and others", "Jane Doe and John Roe and others"],
    "hyphen": [
        "Smith-Jones, Mary", "Mary Smith-Jones", "Jean-Paul Sartre", "Sartre, Jean-Paul",
    ],
    "extended": [
        "family=Berg, given=Jan, prefix=van den, useprefix=true", "given=Jane, family=Doe",
        "family={Doe}, given={Jane}, given-i=J",
    ],
    "lines": [
        "Doe, Jane\n  and Roe, Richard", "Doe, Jane  and\n\tRoe, Richard",
        "Doe, Jane AND Roe, Richard", "Doe, Jane and  and Roe, R.",
    ],
    "single": ["Aristotle", "Madonna and Doe, Jane", "Doe, "],
}  # fmt: skip

# Fields of one entry that say when, as they stand in the file.
DATES = {
    "year": ["year = {2001}", "year = 2001", "date = {2001}", 'year = "2001"'],
    "year and month": [
        "year = 2001, month = mar", "year = {2001}, month = {March}", "year = 2001, month = {3}",
        "year = 2001, month = 3", "year = 2001, month = {mar}", 'year = 2001, month = "sept"',
        "year = 2001, month = {03}", "date = {2001-03}", "year = 2001, month = {Sep.}",
    ],
    "month and day": [
        'year = 2001, month = mar # "~12"', "year = 2001, month = {12~March}",
        "year = 2001, month = {March 12}", "year = 2001, month = mar, day = 12",
        "date = {2001-03-12}", 'year = 2001, month = "12~" # mar',
        "year = 2001, month = mar # { 12}", "year = 2001, month = 3, day = {12}",
        "date = {2001-03-12T10:20:30}",
    ],
    "months": [
        'year = 2001, month = jan # "/" # feb', "year = 2001, month = {January-February}",
        "year = 2001, month = {Jan/Feb}", 'year = 2001, month = jan # "--" # feb',
    ],
    "range": [
        "date = {2001/2003}", "date = {2001-03/2001-04}", "date = {2001-03-12/2001-03-14}",
        "year = {2001--2003}", "date = {1999-12-30/2000-01-02}", "year = {2001-2003}",
    ],
    "open range": [
        "date = {2001/}", "date = {2001/..}", "date = {/2001}", "date = {../2001}",
    ],
    "uncertain": [
        "date = {2001~}", "date = {2001?}", "date = {2001%}", "year = {ca. 2001}",
        "year = {2001?}", "year = {c. 2001}", "year = {[2001]}",
    ],
    "season": [
        "date = {2001-21}", "year = 2001, month = {Spring}", "date = {2001-24}",
        "year = 2001, month = {Summer}",
    ],
    "unspecified": ["date = {199X}", "date = {19XX}", "date = {2001-XX}", "date = {200X}"],
    "not a year": [
        "year = {in press}", "year = {n.d.}", "year = {forthcoming}", "date = {n.d.}",
        "year = {to appear}", "year = {2001a}",
    ],
    "old": ["date = {-0043}", "date = {0476}", "year = {1687}", "date = {0079-08-24}"],
    "both": ["year = 2001, date = {2002-03}", "date = {2001}, month = mar"],
}  # fmt: skip

PAGES = {
    "range": [
        "1--9", "1-9", "1 -- 9", "1 - 9", "1–9", "101--109", "S1--S9", "iv--xii", "e1--e9",
    ],
    "one": ["5", "e1234", "xii", "12+", "124501", "5ff.", "5f"],
    "several": ["1--3, 7", "1,3,5", "1--3; 7--9", "5, 7--9"],
    "words": [
        "p. 5", "pp. 5--7", "5:1--5:9", "{1-1--1-9}", "n/a", "23:1--23:45", "1\\textendash 9",
    ],
}  # fmt: skip

KEYWORDS = {
    "commas": ["alpha, beta", "alpha,beta ,gamma", "alpha beta, gamma"],
    "semicolons": ["alpha; beta", "alpha;beta, gamma", "alpha; beta;"],
    "braces": ["{alpha, beta}, gamma", "{alpha}, {beta gamma}", "alpha \\& beta, gamma"],
    "TeX": ['caf{\\\'e}, na\\"ive', "$\\alpha$-decay, beta", "C\\#, .NET"],
    "one": ["alpha", "alpha beta gamma"],
}  # fmt: skip

LINKS = {
    "plain": [
        "http://a.org/b", "https://a.org/b?c=d&e=f", "http://a.org/~user/", "www.a.org",
    ],
    "escaped": [
        "http://a.org/a\\_b", "http://a.org/a\\%20b", "http://a.org/?a=b\\&c=d",
        "http://a.org/\\~{}user", "http://a.org/{\\textasciitilde}user", "http://a.org/a\\#b",
        "http://a.org/$\\sim$user",
    ],
    "command": ["\\url{http://a.org/b}", "{http://a.org/b}", "<http://a.org/b>"],
    "signs": ["http://a.org/a%20b", "http://a.org/a_b#c", "ftp://a.org/x"],
}  # fmt: skip

DOIS = {
    "bare": [
        "10.1000/abc", "10.1000/ABC.1", "10.1000/a(b)c", "10.1002/(SICI)1097<1::AID>3.0.CO;2-X",
    ],
    "dressed": [
        "https://doi.org/10.1000/abc", "http://dx.doi.org/10.1000/abc", "doi:10.1000/abc",
        "DOI: 10.1000/abc", "doi.org/10.1000/abc", "10.1000/abc.",
    ],
    "escaped": [
        "10.1000/a\\_b", "10.1000/a{\\_}b", "10.1000/a$\\_$b", "10.1000/a\\%b", "{10.1000/abc}",
    ],
}  # fmt: skip

PLAIN = {
    "edition": {
        "number": [
            "2", "2nd", "Second", "Second edition", "2nd ed.", "Revised", "3rd Edition",
        ],
    },
    "publisher": {
        "plain": [
            "Springer", "O'Reilly \\& Associates", "Wiley and Sons", "{Taylor and Francis}",
            "{A} and {B}", 'Universit{\\"a}t Ulm', "MIT Press, Cambridge",
        ],
    },
    "address": {
        "plain": [
            "New York", "Cambridge, {MA}", "Berlin and Heidelberg", "{New York} and {London}",
            'Z{\\"u}rich, Switzerland',
        ],
    },
    "volume": {
        "plain": ["12", "XII", "12A", "12--13", "{LNCS} 12", "Vol. 12", "B-12"],
    },
    "journal": {
        "plain": [
            "Journal of Foo", "J. Foo Bar", "{Phys. Rev.} B", "Acta {M}ath.", "Nature",
            "Science \\& Society", "{IEEE} Trans. Comput.", "The {J}ournal of {X}",
            'Zeitschrift f{\\"u}r Physik',
        ],
    },
    "booktitle": {
        "plain": [
            "Proceedings of the 5th International Conference on Foo ({ICF} 2001)",
            "Advances in Cryptology -- {EUROCRYPT} '99", "The Oxford Handbook of Foo",
            "Proc. {IEEE} Conf. on Bars", "{Proceedings of Foo}", "Handbook of foo and bar",
        ],
    },
    "series": {
        "plain": [
            "Lecture Notes in Computer Science", "{LNCS}", "Studies in Logic", "{ACM} Series",
        ],
    },
    "note": {
        "plain": [
            "A note.", "See \\url{http://a.org/b_c}", "In \\emph{italics} and $x^2$",
            "PMID: 12345", "First\n\nSecond", "First \\\\ Second", "In press",
            "arXiv:2001.00001",
        ],
    },
    "abstract": {
        "plain": [
            "One. Two.", "First.\n\nSecond.", "With $\\alpha$ and 5\\% of \\emph{E. coli}",
            "A \\textbf{bold} claim \\& more", "Temp. of 5\\,{\\textdegree}C -- high",
            "<p>Markup</p> and <i>x</i>", "First \\par Second",
        ],
    },
    "language": {
        "plain": [
            "english", "german", "French", "en", "ngerman", "fr-FR", "english and german",
        ],
    },
    "howpublished": {
        "plain": [
            "\\url{http://a.org/b}", "Blog", "Available at http://a.org/b", "Online",
        ],
    },
    "eprint": {
        "plain": ["2001.00001", "arXiv:2001.00001", "math/0101001", "2001.00001v2"],
    },
    "isbn": {
        "plain": [
            "978-3-16-148410-0", "9783161484100", "3-16-148410-X", "0262033844 (pbk)",
        ],
    },
    "issn": {
        "plain": ["1234-5679", "12345679", "1234-5679 (print)"],
    },
}  # fmt: skip

# Of BibTeX, BibLaTeX, Mendeley, Zotero, JabRef and others.
ENTRY_TYPES = [
    "article", "book", "booklet", "conference", "inbook", "incollection", "inproceedings",
    "manual", "mastersthesis", "misc", "phdthesis", "proceedings", "techreport", "unpublished",
    "mvbook", "bookinbook", "suppbook", "collection", "mvcollection", "suppcollection",
    "dataset", "online", "patent", "periodical", "suppperiodical", "mvproceedings", "reference",
    "mvreference", "inreference", "report", "software", "thesis", "electronic", "www", "artwork",
    "audio", "image", "jurisdiction", "legislation", "legal", "letter", "movie", "music",
    "performance", "review", "standard", "video", "commentary", "newspaper_article",
    "magazine_article", "webpage", "bachelorthesis", "talk", "presentation", "film", "preprint",
    "unknownthing", "TechReport", "ARTICLE",
]  # fmt: skip

# Fields whose place in the other's record is asked for, with a value that nothing else has.
PLACED_FIELDS = [
    "volume", "number", "issue", "series", "publisher", "institution", "school", "organization",
    "address", "location", "edition", "chapter", "journal", "journaltitle", "booktitle", "note",
    "type", "version", "howpublished", "eventtitle", "venue", "pagetotal", "volumes", "annote",
    "annotation", "shorttitle", "titleaddon", "maintitle", "subtitle", "shortjournal", "part",
    "eid", "pubstate", "library", "addendum", "issuetitle", "booksubtitle", "origtitle",
    "origlocation", "journalsubtitle", "abstract", "language",
]  # fmt: skip

PLACED_PEOPLE = [
    "author", "editor", "translator", "bookauthor", "editora", "director", "annotator",
    "commentator", "introduction", "foreword", "afterword", "holder", "shortauthor",
]  # fmt: skip

PLACED_DATES = ["date", "year", "urldate", "eventdate", "origdate"]
