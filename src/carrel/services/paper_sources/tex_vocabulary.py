"""Environments and commands of LaTeX, by what a reader of the text needs to know of them."""

HEADING_LEVELS = {
    "part": 2, "chapter": 2, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5,
    "subparagraph": 6,
}  # fmt: skip
EQUATIONS = frozenset(
    {"equation", "displaymath", "align", "alignat", "gather", "multline", "eqnarray", "flalign",
     "math", "dmath"}
)  # fmt: skip
# Rows of these are kept together as LaTeX does inside a display.
ALIGNED = frozenset({"align", "alignat", "eqnarray", "flalign"})
CODE = frozenset({"verbatim", "lstlisting", "minted", "Verbatim"})
LEFT_OUT = frozenset(
    {"comment", "tikzpicture", "picture", "pgfpicture", "filecontents", "CCSXML", "keyword",
     "IEEEkeywords", "keywords", "abstract"}
)  # fmt: skip
LISTS = frozenset({"itemize", "enumerate", "description", "compactitem", "compactenum"})
FLOATS = frozenset({"figure", "table", "wrapfigure", "wraptable", "algorithm", "SCfigure"})
STATEMENTS = {
    "theorem": "Theorem", "thm": "Theorem", "lemma": "Lemma", "lem": "Lemma", "proof": "Proof",
    "proposition": "Proposition", "prop": "Proposition", "corollary": "Corollary",
    "cor": "Corollary", "definition": "Definition", "defn": "Definition", "remark": "Remark",
    "rem": "Remark", "example": "Example", "conjecture": "Conjecture", "claim": "Claim",
    "assumption": "Assumption",
}  # fmt: skip
# Commands that make nothing to read, with how many arguments they take.
SILENT_COMMANDS = {
    "label": 1, "vspace": 1, "hspace": 1, "includegraphics": 1, "bibliographystyle": 1,
    "setlength": 2, "addtolength": 2, "setcounter": 2, "addtocounter": 2, "newtheorem": 2,
    "usepackage": 1, "pagestyle": 1, "thispagestyle": 1, "markboth": 2, "index": 1,
    "bibliography": 1, "input": 1, "include": 1, "affiliation": 1, "email": 1, "date": 1,
    "author": 1, "title": 1, "thanks": 1, "address": 1, "institute": 1, "hypersetup": 1,
    "graphicspath": 1, "definecolor": 3, "color": 1, "rule": 2, "phantom": 1, "hyphenation": 1,
    "vskip": 0, "hskip": 0, "addcontentsline": 3, "keywords": 1, "titlerunning": 1,
    "authorrunning": 1, "icmltitlerunning": 1, "citestyle": 1, "setcitestyle": 1, "fontsize": 2,
}  # fmt: skip
# Commands whose last argument is the text, with how many come before it.
SHOWN_LAST = {
    "textcolor": 1, "href": 1, "parbox": 1, "resizebox": 2, "scalebox": 1, "raisebox": 1,
    "colorbox": 1, "multicolumn": 2, "multirow": 2, "adjustbox": 1, "rotatebox": 1,
}  # fmt: skip
# Names that are written out.
WORDS = {"LaTeX": "LaTeX", "TeX": "TeX", "BibTeX": "BibTeX", "LaTeXe": "LaTeX", "xspace": " "}
MARKS = {
    "emph": "*", "textit": "*", "textsl": "*", "textbf": "**", "texttt": "`", "mathbf": "",
}  # fmt: skip
