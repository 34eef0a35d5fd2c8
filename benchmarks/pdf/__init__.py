"""How well PDFs are read, against gold rows: `make bench-pdf`."""
