# Start with `make demo` and `make test`. Both install everything they need.
SHELL := bash
PYTHON ?= python3
UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
BIN := .venv/bin
# uv and Node use the certificates of this machine, for example those of a company proxy
export UV_SYSTEM_CERTS ?= 1
BUNDLES := $(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem)
export NODE_EXTRA_CA_CERTS ?= $(or $(SSL_CERT_FILE),$(firstword $(BUNDLES)))
LOCKED = --universal --python-version $(or $(1),3.10) --generate-hashes --quiet
COMPILE = $(UV) pip compile pyproject.toml $(call LOCKED,$(1))
SPARKS := 3.5 4.0 4.1 4.2 4.3
SUITES := trace capture connect
# requirement files for Java and Node, if this machine lacks them; evaluated by `setup` only
MISSING = $(shell tools/lacks)

.PHONY: help setup demo check test test-bare test-matrix lint bench browser page page-check lock clean

help:
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

setup: .venv/.ready ## build .venv with every extra and development tool

.uv/bin/uv: requirements/uv.txt
	@PYTHON='$(PYTHON)' tools/bring-uv

.venv/.ready: requirements/dev.txt pyproject.toml $(if $(filter .uv/bin/uv,$(UV)),.uv/bin/uv)
	test -x $(BIN)/python || $(UV) venv --quiet --python '>=3.10,<3.15' .venv
	$(UV) pip sync --quiet --python $(BIN)/python --require-hashes requirements/dev.txt $(MISSING)
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --editable .
	@touch $@

browser: setup
	@$(BIN)/python tools/bring_browser.py

# Node of this machine, or from the wheel that `setup` installed
NPM ?= PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix web
PAGE := src/colline/server/static/index.html
PAGE_SOURCES := $(shell find web -path web/node_modules -prune -o -type f -print 2>/dev/null)

page: $(PAGE) ## build the page that `colline serve` serves

web/node_modules/.ready: web/package-lock.json | .venv/.ready
	$(NPM) ci --silent
	@touch $@

$(PAGE): web/node_modules/.ready $(PAGE_SOURCES)
	$(NPM) run --silent build

page-check: web/node_modules/.ready ## lint, types and tests of the page's source
	$(NPM) run --silent check
	$(NPM) run --silent test

lint: setup ## ruff, mypy, import-linter, language
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/check_language.py

demo: setup page ## set everything up, capture an example platform and run every query command
	$(BIN)/colline demo

.PHONY: picture
picture: setup page browser ## take the picture of the page in README; needs the lake of `make demo`
	$(BIN)/python tools/page_picture.py

# Everything that needs no JVM, no browser and no killed process: what one runs while working
FAST_TESTS := not (spark or delta or kafka or browser or faults or attack)
check: lint page-check ## format, lint, types, imports, language and all fast tests
	$(BIN)/python -m pytest -q -n 2 -m '$(FAST_TESTS)'

test: setup lint browser page page-check ## set everything up and run all tests
	$(BIN)/python -m pytest -n 2

test-matrix: setup ## lineage and capture tests on other Spark versions: make test-matrix SPARKS="3.5 4.0"
	UV='$(UV)' SUITES='$(SUITES)' $(BIN)/python tools/matrix.py $(SPARKS)

bench: setup ## run every benchmark; results are ratios within one run
	@for script in bench/*.py; do echo "== $$script"; $(BIN)/python "$$script" || exit 1; done

lock: $(if $(filter .uv/bin/uv,$(UV)),.uv/bin/uv) ## regenerate requirements/*.txt
	$(call COMPILE) --extra all --group dev -o requirements/dev.txt
	$(call COMPILE) --extra jre -c requirements/dev.txt -o requirements/jre.txt
	$(call COMPILE) --group node -c requirements/dev.txt -o requirements/node.txt
	$(UV) pip compile --group uv $(call LOCKED) -o requirements/uv.txt
	$(call COMPILE) --group spark-3.5 -o requirements/spark-3.5.txt
	$(call COMPILE) --group spark-4.0 -o requirements/spark-4.0.txt
	$(call COMPILE) --group spark-4.2 --override requirements/spark-4.2.override -o requirements/spark-4.2.txt
	$(call COMPILE,3.11) --group spark-4.3 -o requirements/spark-4.3.txt

.PHONY: rest-docs cli-docs
cli-docs: setup ## regenerate docs/reference/cli.md from the commands and a small example lake
	$(BIN)/python tools/cli_docs.py

rest-docs: setup ## regenerate docs/reference/rest.md from the table of endpoints
	$(BIN)/python tools/rest_docs.py > docs/reference/rest.md

.PHONY: test-demo
test-demo: setup ## run the demo and compare its answers with tests/demo/answers.txt
	COLLINE_GOLDEN=$(or $(GOLDEN),read) $(BIN)/python -m pytest tests/demo

test-bare: ## `make demo` and `make test` in a fresh clone, as on a machine with only Python, git and make
	tools/bare demo test

clean: ## remove everything that the other targets created
	rm -rf .venv .venvs .uv web/node_modules src/colline/server/static

# `make test` kills 24 processes.
N ?= 200
.PHONY: faults
faults: setup ## kill N processes at random moments and check that no event is lost: make faults N=500
	COLLINE_FAULTS=$(N) $(BIN)/python -m pytest -m faults tests/transport

record: setup  ## record the plans of the lineage cases on the default Spark version
	$(BIN)/python -m tests.trace.recorded

.PHONY: record-matrix
record-matrix: setup  ## record the plans of the cases that apply to other Sparks only: make record-matrix SPARKS="3.5 4.0"
	UV='$(UV)' $(BIN)/python tools/matrix.py --record $(SPARKS)

.PHONY: settings-docs
settings-docs: setup ## regenerate docs/reference/settings.md from the typed settings
	$(BIN)/python tools/settings_page.py

QUERIES ?= 10000
.PHONY: memory
memory: setup ## measure the memory of Python and JVM over many captured queries: make memory QUERIES=10000
	$(BIN)/python bench/memory.py $(QUERIES)

# `make test` runs a short form of it.
.PHONY: attack
attack: setup page ## attack server, spool, snapshots and ingest, and print what held: make attack COLLINE_SEED=7
	COLLINE_ATTACK=full $(BIN)/python -m pytest tests/attack --timeout 3600

.PHONY: pipeline-faults
pipeline-faults: setup ## kill ingest and rebuild after each write, and shuffle events: make pipeline-faults COLLINE_MOMENTS=50
	COLLINE_FAULTS=all $(BIN)/python -m pytest tests/pipeline/test_exactly_once.py tests/pipeline/history/test_histories.py tests/pipeline/upkeep/test_rebuild.py tests/pipeline/upkeep/test_upkeep.py tests/graph/snapshot/test_staleness.py --timeout 3600

.PHONY: test-objectstore
test-objectstore: setup ## test a lake that Spark writes to an S3-compatible store; downloads 600 MB once
	COLLINE_OBJECTSTORE=1 $(BIN)/python -m pytest tests/pipeline/test_s3a_lake.py tests/graph/test_object_store.py tests/server/test_remote_lake.py

.PHONY: record coverage-page perturb
coverage-page: setup  ## regenerate docs/reference/coverage.md from the recorded plans of the lineage cases
	$(BIN)/python -m tests.trace.coverage

perturb: setup  ## run N random queries, change one input at a time, and check the lineage: make perturb N=1000 SEED=7
	$(BIN)/python -m tests.trace.perturb $(N) $(SEED)

.PHONY: record-demo
record-demo: setup ## run the demo and record its events for the tests of the page
	$(BIN)/python tests/server/demo_events.py

.PHONY: audit
audit: setup ## check the locked packages for known vulnerabilities; needs the network
	@UV='$(UV)' PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/audit.py
