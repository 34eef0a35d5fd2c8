"""Reads the layout of a PDF's pages: columns, headings, paragraphs, title page and references.

Pure: what PDFium gives is handed in as `PdfContent`, so that rules can be tested without a file.
"""
