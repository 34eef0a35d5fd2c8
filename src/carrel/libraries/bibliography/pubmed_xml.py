"""PubMed's XML, articles and books, to CSL-JSON items."""

from collections.abc import Iterator

from carrel.libraries.bibliography.bibtex.field_values import full_name
from carrel.libraries.bibliography.dates import CslDate, month_number, read_date, season_number
from carrel.libraries.bibliography.imports import CslItem, ImportResult, read_xml
from carrel.libraries.bibliography.items import (
    add_note,
    expand_page_range,
    join_keywords,
    language_code,
    put,
    put_doi,
    put_other,
    put_standard_numbers,
)
from carrel.libraries.bibliography.titles import strip_final_stop
from carrel.libraries.csl.name_lists import mark_et_al
from carrel.libraries.identifiers import NotAnIdentifierError, Pmcid
from carrel.libraries.text.xml import XmlNode

_TYPES = {
    "Preprint": "article",
    "Dataset": "dataset",
    "Academic Dissertation": "thesis",
    "Congress": "paper-conference",
    "Technical Report": "report",
}
# Elements that CSL has no variable for, under the names of their kind.
_OF_ARTICLES = {
    "Affiliation": "affiliation", "CopyrightInformation": "copyright", "GrantID": "grant",
    "Agency": "funding", "NameOfSubstance": "chemicals", "RegistryNumber": "registry-number",
    "SupplMeshName": "supplementary-mesh", "GeneSymbol": "gene-symbols", "OtherID": "other-id",
    "NumberOfReferences": "references", "CoiStatement": "conflict-of-interest",
    "AccessionNumber": "accession-number", "SpaceFlightMission": "space-flight-mission",
    "PersonalNameSubject": "personal-name-subject", "OtherAbstract": "other-abstract",
}  # fmt: skip
_OF_BOOKS = {
    "Affiliation": "affiliation", "CopyrightInformation": "copyright",
    "LocationLabel": "location-label", "SectionTitle": "sections", "Item": "items",
}  # fmt: skip
_MARKS = {"i": "i", "b": "b", "sup": "sup", "sub": "sub"}


def read_pubmed_xml(content: str | bytes) -> ImportResult:
    """Every article and book of a PubmedArticleSet, or a single one."""
    answer = ImportResult()
    root = read_xml(content, answer)
    for node in _records(root):
        item = _article(node) if node.tag in {"PubmedArticle", "MedlineCitation"} else _book(node)
        answer.add(item, node.line)
    return answer


def _records(root: XmlNode) -> Iterator[XmlNode]:
    if root.tag in {"PubmedArticle", "PubmedBookArticle", "MedlineCitation", "BookDocument"}:
        yield root
        return
    for child in root.nodes():
        if child.tag in {"PubmedArticle", "PubmedBookArticle", "MedlineCitation", "BookDocument"}:
            yield child
        elif child.tag in {"PubmedArticleSet", "PubmedBookArticleSet", "MedlineCitationSet"}:
            yield from _records(child)


def _article(node: XmlNode) -> CslItem:
    citation = node if node.tag == "MedlineCitation" else node.first("MedlineCitation") or node
    article = citation.first("Article") or citation
    journal = article.first("Journal") or article
    issue = journal.first("JournalIssue") or journal
    kinds = [kind.all_text() for kind in article.deep("PublicationType")]
    item: CslItem = {
        "type": next((_TYPES[kind] for kind in kinds if kind in _TYPES), "article-journal")
    }
    put(item, "PMID", citation.at("PMID"))
    original = strip_final_stop(article.at("VernacularTitle"))
    title = strip_final_stop(markup_text(article.first("ArticleTitle")))
    put(item, "title", title or original)
    if original != item.get("title"):
        put(item, "original-title", original)
    put(item, "container-title", journal.at("Title"))
    put(
        item,
        "container-title-short",
        citation.at("MedlineJournalInfo", "MedlineTA") or journal.at("ISOAbbreviation"),
    )
    if item.get("container-title-short") == item.get("container-title"):
        item.pop("container-title-short", None)
    put(item, "volume", issue.at("Volume"))
    put(item, "issue", issue.at("Issue"))
    _people(article, item)
    date = _date(issue.first("PubDate")) or _date(article.first("ArticleDate"))
    if date:
        item["issued"] = date
    if issue.first("PubDate"):
        put_other(item, "epub", _iso(article.first("ArticleDate")))
    for told in (day for data in node.each("PubmedData") for day in data.deep("PubMedPubDate")):
        # The other days are those of the record.
        if (status := told.get("PubStatus", "")) in {"received", "revised", "accepted"}:
            put_other(item, "history", f"{_iso(told)} [{status}]")
    _pages(article, item)
    number = journal.at("ISSN")
    if number:
        put_standard_numbers(item, number)
    _identifiers(node, article, item)
    put(item, "abstract", _abstract(article))
    _keywords(citation, item)
    _language(article, item)
    put_other(
        item, "pubtype", ", ".join(kind for kind in kinds if kind.lower() != "journal article")
    )
    _about(node, citation, article, item)
    return item


def _book(node: XmlNode) -> CslItem:
    document = node if node.tag == "BookDocument" else node.first("BookDocument") or node
    book = document.first("Book") or document
    article_title = strip_final_stop(markup_text(document.first("ArticleTitle")))
    title = strip_final_stop(markup_text(book.first("BookTitle")))
    item: CslItem = {"type": "chapter" if article_title and title else "book"}
    put(item, "PMID", document.at("PMID"))
    put(item, "title", article_title or title)
    if article_title:
        put(item, "container-title", title)
    put(item, "collection-title", book.at("CollectionTitle"))
    put(item, "publisher", book.at("Publisher", "PublisherName"))
    put(item, "publisher-place", book.at("Publisher", "PublisherLocation"))
    put(item, "volume", book.at("Volume"))
    put(item, "volume-title", book.at("VolumeTitle"))
    put(item, "number", book.at("ReportNumber"))
    for place in book.each("ELocationID"):
        _identifier(place.get("EIdType", ""), place.all_text(), item)
    _put_texts(item, document, _OF_BOOKS)
    put(item, "edition", book.at("Edition"))
    put(item, "medium", book.at("Medium"))
    _people(document, item)
    if book is not document:
        _people(book, item)
    date = _date(book.first("PubDate"))
    if date:
        item["issued"] = date
    _pages(document, item)
    for isbn in book.each("Isbn"):
        put_standard_numbers(item, isbn.all_text())
    _identifiers(node, document, item)
    if book is not document:
        _identifiers(book, book, item)
    put(item, "abstract", _abstract(document))
    _keywords(document, item)
    _language(document, item)
    put_other(
        item, "pubtype", ", ".join(kind.all_text() for kind in document.each("PublicationType"))
    )
    put_other(item, "contribution", _iso(document.first("ContributionDate")))
    put_other(item, "revised", _iso(document.first("DateRevised")))
    state = (node.first("PubmedBookData") or node).at("PublicationStatus")
    put(item, "status", state)
    return item


def markup_text(node: XmlNode | None) -> str:
    """Text with the markup that CSL-JSON knows."""
    if node is None:
        return ""
    parts = [node.text or ""]
    for child in node.nodes():
        tag = _MARKS.get(child.tag)
        inner = markup_text(child)
        parts.append(f"<{tag}>{inner}</{tag}>" if tag and inner else inner)
        parts.append(child.tail or "")
    return " ".join("".join(parts).split())


def _people(article: XmlNode, item: CslItem) -> None:
    for authors in article.each("AuthorList"):
        role = "editor" if authors.get("Type") == "editors" else "author"
        people = [
            person for person in (_person(author) for author in authors.each("Author")) if person
        ]
        if people:
            item[role] = item.get(role, []) + people
        if authors.get("CompleteYN") == "N":
            mark_et_al(item, role)


def _person(author: XmlNode) -> dict[str, str]:
    literal = author.at("CollectiveName")
    if literal:
        return {"literal": literal}
    person = {
        "family": author.at("LastName"),
        "given": author.at("ForeName") or author.at("Initials"),
        "suffix": author.at("Suffix"),
    }
    return {part: text for part, text in person.items() if text}


def _date(node: XmlNode | None) -> CslDate | None:
    if node is None:
        return None
    written = node.at("MedlineDate")
    if written:
        return read_date(written)
    year, month, day = node.at("Year"), node.at("Month"), node.at("Day")
    if not year.isdigit():
        return None
    date: CslDate = {"date-parts": [[int(year)]]}
    number = month_number(month) if month else None
    season = season_number(month or node.at("Season"))
    if number:
        date["date-parts"][0].append(number)
        if day.isdigit():
            date["date-parts"][0].append(int(day))
    elif season:
        date["season"] = season
    return date


def _iso(node: XmlNode | None) -> str:
    if node is None:
        return ""
    return "-".join(
        part.zfill(2) for part in (node.at("Year"), node.at("Month"), node.at("Day")) if part
    )


def _pages(article: XmlNode, item: CslItem) -> None:
    pagination = article.first("Pagination")
    if pagination is None:
        return
    pages = pagination.at("MedlinePgn")
    if not pages:
        start, end = pagination.at("StartPage"), pagination.at("EndPage")
        pages = f"{start}-{end}" if end and end != start else start
    put(
        item,
        "page",
        ", ".join(expand_page_range(part) for part in pages.split(",")) if pages else "",
    )


def _identifiers(node: XmlNode, article: XmlNode, item: CslItem) -> None:
    for place in article.each("ELocationID"):
        _identifier(place.get("EIdType", ""), place.all_text(), item)
    for data in (node.first("PubmedData"), node.first("PubmedBookData"), article):
        lists = data.first("ArticleIdList") if data else None
        for identifier in lists.each("ArticleId") if lists else ():
            _identifier(identifier.get("IdType", ""), identifier.all_text(), item)


def _identifier(kind: str, text: str, item: CslItem) -> None:
    if kind == "doi":
        put_doi(item, text)
    elif kind == "pmc":
        try:
            put(item, "PMCID", str(Pmcid.parse(text)))
        except NotAnIdentifierError:
            put_other(item, "pmc", text)
    elif kind == "url":
        put(item, "URL", text)
    elif kind in {"pii", "mid", "bookaccession"} and not (
        item.get("custom", {}).get("fields", {}).get(kind)
    ):
        put_other(item, kind, text)


def _abstract(article: XmlNode) -> str:
    abstract = article.first("Abstract")
    parts: list[str] = []
    for text in abstract.each("AbstractText") if abstract else ():
        label, words = text.get("Label", ""), markup_text(text)
        if words:
            parts.append(f"{label}: {words}" if label and label != "UNLABELLED" else words)
    return "\n".join(parts)


def _keywords(citation: XmlNode, item: CslItem) -> None:
    words: list[str] = []
    for heading in citation.deep("MeshHeading"):
        name = heading.first("DescriptorName")
        if name:
            words.append(name.all_text())
    words += [
        word.all_text()
        for keywords in citation.each("KeywordList")
        for word in keywords.each("Keyword")
    ]
    put(item, "keyword", join_keywords(words))


def _language(article: XmlNode, item: CslItem) -> None:
    language = article.at("Language")
    if language:
        item["language"] = language_code(language)


def _about(node: XmlNode, citation: XmlNode, article: XmlNode, item: CslItem) -> None:
    """What PubMed says about the record itself."""
    info = citation.first("MedlineJournalInfo")
    if info:
        put_other(item, "country", info.at("Country"))
        put_other(item, "nlm-id", info.at("NlmUniqueID"))
        put_other(item, "issn-linking", info.at("ISSNLinking"))
    put_other(
        item,
        "citation-subset",
        ", ".join(subset.all_text() for subset in citation.each("CitationSubset")),
    )
    put_other(item, "status", citation.get("Status", ""))
    put_other(item, "owner", citation.get("Owner", ""))
    put_other(item, "pubmodel", article.get("PubModel", ""))
    for name, element in (
        ("created", "DateCreated"),
        ("completed", "DateCompleted"),
        ("revised", "DateRevised"),
    ):
        put_other(item, name, _iso(citation.first(element)))
    put(item, "status", (node.first("PubmedData") or node).at("PublicationStatus"))
    for note in citation.each("GeneralNote"):
        add_note(item, note.all_text())
    _put_texts(item, citation, _OF_ARTICLES)
    put_other(
        item,
        "investigator",
        "; ".join(
            full_name(_person(each))
            for people in citation.each("InvestigatorList")
            for each in people.each("Investigator")
        ),
    )


def _put_texts(item: CslItem, node: XmlNode, names: dict[str, str]) -> None:
    """Keep elements without a variable, several joined, each text once."""
    for element, name in names.items():
        texts = dict.fromkeys(each.all_text() for each in node.deep(element))
        put_other(item, name, "; ".join(text for text in texts if text))
