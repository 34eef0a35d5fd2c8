"""What headings look like as text: numbers, well-known names, and what never is one."""

from __future__ import annotations

import re
import unicodedata

KNOWN_NAMES = frozenset(
    name.strip()
    for name in """
    abstract; summary; introduction; background; related work; materials
    and methods; methods; methodology; experiments; results; results and
    discussion; discussion; conclusion; conclusions; concluding remarks;
    limitations; future work; acknowledgments; acknowledgements;
    acknowledgment; acknowledgement; author contributions; data
    availability; code availability; appendix; appendices; supplementary
    material; references; references cited; bibliography; works cited;
    literature; literature cited; einleitung; methoden; ergebnisse;
    diskussion; zusammenfassung; literatur; literaturverzeichnis;
    danksagung; anhang; références; bibliographie; résumé; remerciements;
    annexe; conclusions générales; méthodes; résultats; bibliografía;
    referencias; resumen; introducción; resultados; métodos; discusión;
    conclusiones; agradecimientos; referências; bibliografia; riferimenti
    bibliografici; литература; список литературы; введение; заключение;
    аннотация; 参考文献; 摘要; 引言; 结论; 方法; 结果; 讨论; 緒言; 結論; 考察; preface;
    foreword; glossary; executive summary; funding; conflict of interest;
    competing interests; computational details; session information;
    notation; index
    """.replace("\n", " ").split(";")
)
CONTENTS_NAMES = frozenset(
    {
        "contents", "table of contents", "inhaltsverzeichnis", "inhalt", "table des matières",
        "sommaire", "índice", "contenido", "índice general", "indice", "содержание", "оглавление",
        "目录", "目次", "list of figures", "list of tables",
    }
)  # fmt: skip
_NUMBER = re.compile(
    r"(?:(?:chapter|section|appendix|part|kapitel|anhang|chapitre|capítulo|глава)\s+)?"
    r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,4}|[A-Z](?:\.\d{1,2}){1,3}|[A-H]|[IVX]{1,5}(?=[.:)\s]))"
    r"(?P<sign>[.:)]?)\s+(?=[^\W\d_]|[«“\"'‘(\[{¿¡\\.-]\w)",
    re.IGNORECASE,
)
_CHINESE_NUMBER = re.compile(r"第\s?\d{1,3}\s?[章节節]\s?")
LEADERS = re.compile(r"(?:\.\s?){4,}|(?:·\s?){4,}|…{2,}")
_ENDS_WITH_PAGE = re.compile(r"\s(?:\d{1,4}|[ivxlc]{1,7})$")


def squash(text: str) -> str:
    """Letters and digits alone, without accents and case, to compare headings."""
    folded = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("ı", "i"))
    return "".join(sign for sign in folded.casefold() if sign.isalnum())


def split_number(text: str) -> tuple[str, str]:
    """The numeral before a heading ("2.1", "A", "IV"; empty where there is none) and the rest."""
    found = _NUMBER.match(text)
    if found is None:
        chinese = _CHINESE_NUMBER.match(text)
        return ("1", text[chinese.end() :]) if chinese else ("", text)
    number = found["number"]
    # A letter alone is a numeral only where a sign follows, or a capital ("A Proofs", "B. Data").
    if number.isalpha() and not found["sign"] and not text[found.end() :][:1].isupper():
        return "", text
    if number.isalpha() and number.islower():
        return "", text
    return number, text[found.end() :]


def is_known_name(text: str) -> bool:
    """Whether a text is one of the usual names of sections."""
    return split_number(text.strip())[1].strip(" .:").casefold() in KNOWN_NAMES


def is_contents_name(text: str) -> bool:
    return split_number(text.strip())[1].strip(" .:").casefold() in CONTENTS_NAMES


def is_contents_entry(text: str) -> bool:
    """Whether a row looks like one of a table of contents: leaders, or a page at its end."""
    return bool(LEADERS.search(text) or _ENDS_WITH_PAGE.search(text))


def may_be_heading(text: str) -> bool:
    """Whether words could be a heading at all: short, with letters, no sentence, no caption."""
    bare = text.strip()
    letters = sum(sign.isalpha() for sign in bare)
    if not letters >= 2 or len(bare) > 180 or letters < 0.45 * len(bare.replace(" ", "")):
        return False
    return not (LEADERS.search(bare) or bare.endswith((",", ";", "…", "=")) or bare[0] in "•–-*>+|")
