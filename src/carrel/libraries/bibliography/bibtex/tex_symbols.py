"""What TeX commands stand for in Unicode: a table of facts, both ways."""

ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304",
    ".": "\u0307", "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328",
    "d": "\u0323", "b": "\u0331", "r": "\u030a", "t": "\u0361", "h": "\u0309", "U": "\u030e",
    "G": "\u030f", "C": "\u030f", "f": "\u0311", "ocirc": "\u030a", "textcommabelow": "\u0326",
    "textogonekcentered": "\u0328", "capitalring": "\u030a", "capitalcaron": "\u030c",
    "acute": "\u0301", "grave": "\u0300", "hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303",
    "widetilde": "\u0303", "bar": "\u0304", "ddot": "\u0308", "dot": "\u0307", "breve": "\u0306",
    "check": "\u030c", "vec": "\u20d7", "overline": "\u0305", "underline": "\u0332",
    "mathring": "\u030a",
}  # fmt: skip

# Commands of text and of both: name -> text.
SYMBOLS = {
    "cdotp": "·", "textasciiacute": "´", "textasciigrave": "`", "textasciidieresis": "¨",
    "textasciimacron": "¯", "nobreakdash": "", "cprime": "ʹ", "textbaht": "฿", "textwon": "₩",
    "textrupee": "₹", "textlira": "₤", "textnaira": "₦", "textpeso": "₱", "textdong": "₫",
    "angstrom": "Å", "textmugreek": "μ", "digamma": "ϝ", "Dbar": "Đ", "dbar": "đ", "ier": "er",
    "iere": "re", "ieme": "e",
    "ss": "ß", "SS": "SS", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ",
    "OE": "Œ", "aa": "å", "AA": "Å", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ",
    "dj": "đ", "DJ": "Đ", "ng": "ŋ", "NG": "Ŋ", "ij": "ĳ", "IJ": "Ĳ", "imath": "ı", "jmath": "ȷ",
    "textendash": "–", "textemdash": "—", "textendashmath": "–", "Dash": "—", "endash": "–",
    "emdash": "—", "textquoteleft": "‘", "textquoteright": "’", "textquotedblleft": "“",
    "textquotedblright": "”", "textquotedbl": '"', "textquotesingle": "'", "quotesinglbase": "‚",
    "quotedblbase": "„", "guillemotleft": "«", "guillemotright": "»", "guillemetleft": "«",
    "guillemetright": "»", "guilsinglleft": "‹", "guilsinglright": "›", "flqq": "«", "frqq": "»",
    "glqq": "„", "grqq": "“", "glq": "‚", "grq": "‘", "flq": "‹", "frq": "›", "lq": "‘", "rq": "’",
    "og": "« ", "fg": " »", "textexclamdown": "¡", "textquestiondown": "¿", "ldots": "…",
    "dots": "…", "textellipsis": "…", "cdots": "⋯", "dotsc": "…", "dotsb": "⋯", "vdots": "⋮",
    "ddots": "⋱", "copyright": "©", "textcopyright": "©", "textregistered": "®",
    "texttrademark": "™", "textdegree": "°", "degree": "°", "S": "§", "P": "¶", "textsection": "§",
    "textparagraph": "¶", "pounds": "£", "textsterling": "£", "euro": "€", "texteuro": "€",
    "EUR": "€", "textyen": "¥", "yen": "¥", "textcent": "¢", "textcurrency": "¤", "dag": "†",
    "ddag": "‡", "textdagger": "†", "textdaggerdbl": "‡", "dagger": "†", "ddagger": "‡",
    "textbullet": "•", "bullet": "•", "textperiodcentered": "·", "cdot": "·", "textbackslash": "\\",
    "backslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textunderscore": "_",
    "textbar": "|", "textless": "<", "textgreater": ">", "textbraceleft": "{",
    "textbraceright": "}", "lbrace": "{", "rbrace": "}", "textdollar": "$", "textpercent": "%",
    "textnumero": "№", "numero": "№", "textordfeminine": "ª", "textordmasculine": "º",
    "textonehalf": "½", "textonequarter": "¼", "textthreequarters": "¾", "textonesuperior": "¹",
    "texttwosuperior": "²", "textthreesuperior": "³", "textmu": "µ", "textmultiply": "×",
    "texttimes": "×", "textdiv": "÷", "textpm": "±", "textminus": "−", "textfractionsolidus": "⁄",
    "slash": "/", "textprime": "′", "prime": "′", "textasteriskcentered": "*", "ast": "∗",
    "star": "⋆", "textschwa": "ə", "textohm": "Ω", "TeX": "TeX", "LaTeX": "LaTeX",
    "LaTeXe": "LaTeX2ε", "BibTeX": "BibTeX", "BIBTEX": "BibTeX", "XeTeX": "XeTeX",
    "XeLaTeX": "XeLaTeX", "LuaTeX": "LuaTeX", "LuaLaTeX": "LuaLaTeX", "pdfTeX": "pdfTeX",
    "ConTeXt": "ConTeXt", "METAFONT": "METAFONT", "MF": "METAFONT", "MP": "MetaPost",
    "METAPOST": "MetaPost", "AmSTeX": "AmS-TeX", "AMSTEX": "AmS-TeX", "AmS": "AmS", "AMS": "AMS",
    "SliTeX": "SliTeX", "TUB": "TUGboat", "WEB": "WEB", "CWEB": "CWEB", "POSTSCRIPT": "PostScript",
    "PS": "PostScript", "TUG": "TUG", "CTAN": "CTAN", "alpha": "α", "beta": "β", "gamma": "γ",
    "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
    "vartheta": "ϑ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ",
    "pi": "π", "varpi": "ϖ", "rho": "ρ", "varrho": "ϱ", "sigma": "σ", "varsigma": "ς", "tau": "τ",
    "upsilon": "υ", "phi": "ϕ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ",
    "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ",
    "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "omicron": "ο", "textalpha": "α", "textbeta": "β",
    "textgamma": "γ", "textdelta": "δ", "infty": "∞", "partial": "∂", "nabla": "∇", "pm": "±",
    "mp": "∓", "times": "×", "div": "÷", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠",
    "ne": "≠", "approx": "≈", "sim": "∼", "simeq": "≃", "cong": "≅", "equiv": "≡", "propto": "∝",
    "ll": "≪", "gg": "≫", "in": "∈", "notin": "∉", "ni": "∋", "subset": "⊂", "subseteq": "⊆",
    "supset": "⊃", "supseteq": "⊇", "cup": "∪", "cap": "∩", "setminus": "∖", "emptyset": "∅",
    "varnothing": "∅", "forall": "∀", "exists": "∃", "neg": "¬", "lnot": "¬", "land": "∧",
    "wedge": "∧", "lor": "∨", "vee": "∨", "to": "→", "rightarrow": "→", "textrightarrow": "→",
    "leftarrow": "←", "textleftarrow": "←", "gets": "←", "leftrightarrow": "↔", "Rightarrow": "⇒",
    "Leftarrow": "⇐", "Leftrightarrow": "⇔", "mapsto": "↦", "uparrow": "↑", "downarrow": "↓",
    "longrightarrow": "⟶", "rightleftharpoons": "⇌", "sum": "∑", "prod": "∏", "int": "∫",
    "oint": "∮", "surd": "√", "langle": "⟨", "rangle": "⟩", "lfloor": "⌊", "rfloor": "⌋",
    "lceil": "⌈", "rceil": "⌉", "Vert": "‖", "vert": "|", "mid": "∣", "parallel": "∥", "perp": "⊥",
    "angle": "∠", "circ": "∘", "oplus": "⊕", "otimes": "⊗", "odot": "⊙", "ominus": "⊖",
    "bigoplus": "⨁", "bigotimes": "⨂", "ell": "ℓ", "hbar": "ℏ", "Re": "ℜ", "Im": "ℑ", "aleph": "ℵ",
    "wp": "℘", "triangle": "△", "square": "□", "Box": "□", "diamond": "⋄", "lozenge": "◊",
    "clubsuit": "♣", "heartsuit": "♡", "diamondsuit": "♢", "spadesuit": "♠", "flat": "♭",
    "natural": "♮", "sharp": "♯", "checkmark": "✓", "dashv": "⊣", "vdash": "⊢", "models": "⊨",
    "top": "⊤", "bot": "⊥", "lesssim": "≲", "gtrsim": "≳", "leqslant": "⩽", "geqslant": "⩾",
    "because": "∵", "therefore": "∴", "colon": ":", "sin": "sin", "cos": "cos", "tan": "tan",
    "log": "log", "ln": "ln", "exp": "exp", "min": "min", "max": "max", "lim": "lim", "sup": "sup",
    "inf": "inf", "det": "det", "dim": "dim", "ker": "ker", "deg": "deg", "gcd": "gcd",
    "arg": "arg", "mod": "mod", "bmod": "mod", "hom": "hom", "sqrt": "√", "lbrack": "[",
    "rbrack": "]", "textvisiblespace": "␣", "nobreakspace": "\u00a0", "space": " ",
    "quad": "\u2003", "qquad": "\u2003\u2003", "enspace": "\u2002", "thinspace": "\u2009",
    "negthinspace": "", "hfill": " ", "hfil": " ", "hookrightarrow": "↪", "hookleftarrow": "↩",
    "textcyrillic": "", "par": "\u2029", "newline": "\u2029", "linebreak": " ", "addcolon": ":",
    "addcomma": ",", "adddot": ".", "addspace": " ", "newblock": " ", "bibrangedash": "–",
    "hyphen": "-", "BibTex": "BibTeX", "Latex": "LaTeX", "tex": "TeX",
}  # fmt: skip

# Names of functions, which TeX sets off from letters beside them.
OPERATORS = frozenset({
    "sin", "cos", "tan", "log", "ln", "exp", "min", "max", "lim", "sup", "inf", "det", "dim", "ker",
    "deg", "gcd", "arg", "mod", "bmod", "hom",
})  # fmt: skip

# Commands of one sign: \& \, \- and so on.
SIGNS = {
    "&": "&", "%": "%", "$": "$", "#": "#", "_": "_", "{": "{", "}": "}", " ": " ", "\n": " ",
    "\t": " ", ",": "\u2009", ";": "\u2004", ":": "\u205f", "!": "", "/": "", "-": "", "\\": " ",
    "@": "", "|": "‖", ">": "\u205f", "*": "", "+": "", "<": "", "?": "?", "]": "", "[": "",
    "(": "", ")": "",
}  # fmt: skip

# Commands whose argument is shown marked up: name -> (before, after).
MARKUP = {
    "emph": ("<i>", "</i>"), "textit": ("<i>", "</i>"), "textsl": ("<i>", "</i>"),
    "mkbibemph": ("<i>", "</i>"), "mkbibitalic": ("<i>", "</i>"), "mathit": ("<i>", "</i>"),
    "textbf": ("<b>", "</b>"), "mkbibbold": ("<b>", "</b>"), "mathbf": ("<b>", "</b>"),
    "boldsymbol": ("<b>", "</b>"), "bm": ("<b>", "</b>"), "textsuperscript": ("<sup>", "</sup>"),
    "sp": ("<sup>", "</sup>"), "textsubscript": ("<sub>", "</sub>"), "sb": ("<sub>", "</sub>"),
    "textsc": ('<span style="font-variant:small-caps;">', "</span>"), "mkbibacro": ("", ""),
    "up": ("<sup>", "</sup>"),
    "enquote": ("“", "”"), "mkbibquote": ("“", "”"), "textquote": ("“", "”"),
}  # fmt: skip
DECLARATIONS = {
    "em": ("<i>", "</i>"), "it": ("<i>", "</i>"), "itshape": ("<i>", "</i>"), "sl": ("<i>", "</i>"),
    "slshape": ("<i>", "</i>"), "bf": ("<b>", "</b>"), "bfseries": ("<b>", "</b>"),
    "sc": ('<span style="font-variant:small-caps;">', "</span>"),
    "scshape": ('<span style="font-variant:small-caps;">', "</span>"), "rm": ("", ""),
    "tt": ("", ""), "sf": ("", ""), "ttfamily": ("", ""), "rmfamily": ("", ""),
    "sffamily": ("", ""), "normalfont": ("", ""), "upshape": ("", ""), "small": ("", ""),
    "footnotesize": ("", ""), "large": ("", ""), "Large": ("", ""), "tiny": ("", ""),
    "scriptsize": ("", ""), "normalsize": ("", ""), "cyr": ("", ""), "cal": ("", ""),
    "protect": ("", ""), "relax": ("", ""), "noopsort": ("", ""), "left": ("", ""),
    "right": ("", ""), "big": ("", ""), "Big": ("", ""), "displaystyle": ("", ""),
    "textstyle": ("", ""), "scriptstyle": ("", ""), "limits": ("", ""), "nolimits": ("", ""),
    "null": ("", ""), "ignorespaces": ("", ""), "unskip": ("", ""), "allowbreak": ("", ""),
    "nobreak": ("", ""), "break": ("", ""), "penalty": ("", ""), "sloppy": ("", ""),
    "frenchspacing": ("", ""), "noindent": ("", ""), "bgroup": ("", ""), "egroup": ("", ""),
    "xspace": ("", ""), "leavevmode": ("", ""), "autocap": ("", ""), "unspace": ("", ""),
    "isdot": ("", ""), "midsentence": ("", ""),
}  # fmt: skip

# Commands whose arguments are not shown: name -> how many there are.
HIDDEN = {
    "noopsort": 1, "color": 1, "fontsize": 2, "setlength": 2, "label": 1,
    "vspace": 1, "hspace": 1, "discretionary": 3, "selectlanguage": 1,
    "index": 1, "phantom": 1, "ProvideTextCommand": 2,
}  # fmt: skip
# Commands with an argument that steers and one that is shown.
LAST_ARGUMENT_SHOWN = {
    "href": 2, "textcolor": 2, "foreignlanguage": 2, "textlang": 2, "hyperref": 2, "raisebox": 2,
    "parbox": 2, "texorpdfstring": 1, "ifthenelse": 2, "mathrm": 1, "mathcal": 1, "mathscr": 1,
    "mathfrak": 1, "mathsf": 1, "mathtt": 1, "mathnormal": 1, "operatorname": 1,
}  # fmt: skip

SUPERSCRIPTS = dict(zip("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", strict=True))
SUBSCRIPTS = dict(zip("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", strict=True))
FRACTIONS = {
    "1/2": "½", "1/3": "⅓", "2/3": "⅔", "1/4": "¼", "3/4": "¾", "1/5": "⅕", "2/5": "⅖", "3/5": "⅗",
    "4/5": "⅘", "1/6": "⅙", "5/6": "⅚", "1/8": "⅛", "3/8": "⅜", "5/8": "⅝", "7/8": "⅞",
}  # fmt: skip
# Accents that stand under or over whole words.
LINES = frozenset({"\u0304", "\u0305", "\u0332"})
BLACKBOARD = {"C": "ℂ", "H": "ℍ", "N": "ℕ", "P": "ℙ", "Q": "ℚ", "R": "ℝ", "Z": "ℤ"}

# Journals that astronomers' files name by a command.
JOURNALS = {
    "aj": "Astronomical Journal", "apj": "Astrophysical Journal",
    "apjl": "Astrophysical Journal Letters", "apjs": "Astrophysical Journal Supplement Series",
    "aap": "Astronomy & Astrophysics", "aapr": "Astronomy & Astrophysics Review",
    "aaps": "Astronomy & Astrophysics Supplement Series",
    "mnras": "Monthly Notices of the Royal Astronomical Society", "nat": "Nature",
    "pasp": "Publications of the Astronomical Society of the Pacific",
    "pasj": "Publications of the Astronomical Society of Japan",
    "araa": "Annual Review of Astronomy and Astrophysics", "physrep": "Physics Reports",
    "prd": "Physical Review D", "prl": "Physical Review Letters", "pra": "Physical Review A",
    "prb": "Physical Review B", "prc": "Physical Review C", "pre": "Physical Review E",
    "icarus": "Icarus", "jcap": "Journal of Cosmology and Astroparticle Physics",
    "solphys": "Solar Physics", "ssr": "Space Science Reviews",
    "planss": "Planetary and Space Science", "grl": "Geophysical Research Letters",
    "jgr": "Journal of Geophysical Research", "ao": "Applied Optics",
    "apss": "Astrophysics and Space Science", "azh": "Astronomicheskii Zhurnal",
    "baas": "Bulletin of the American Astronomical Society",
    "memras": "Memoirs of the Royal Astronomical Society",
    "qjras": "Quarterly Journal of the Royal Astronomical Society", "skytel": "Sky and Telescope",
    "sovast": "Soviet Astronomy", "zap": "Zeitschrift für Astrophysik", "iaucirc": "IAU Circulars",
    "procspie": "Proceedings of the SPIE", "nar": "New Astronomy Reviews", "na": "New Astronomy",
    "actaa": "Acta Astronomica",
}  # fmt: skip
