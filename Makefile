# Two commands to learn: `make demo` and `make test`. Both set everything up by themselves.
SHELL := bash
PYTHON ?= python3
UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
BIN := .venv/bin
EXTRAS := --extra all

.PHONY: setup demo test lint bench lock clean rest-docs

setup: .venv/.ready

.uv/bin/uv:
	$(PYTHON) -m venv .uv
	.uv/bin/pip install --quiet uv

.venv/.ready: requirements/dev.txt pyproject.toml $(if $(filter .uv/bin/uv,$(UV)),.uv/bin/uv)
	test -x $(BIN)/python || $(UV) venv --quiet --python '>=3.10,<3.13' .venv
	$(UV) pip sync --quiet --python $(BIN)/python --require-hashes requirements/dev.txt
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --editable .
	touch $@

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

test: setup lint
	$(BIN)/python -m pytest

lock:
	$(UV) pip compile pyproject.toml $(EXTRAS) --group dev --python-version 3.11 --generate-hashes --quiet -o requirements/dev.txt

rest-docs: setup
	$(BIN)/python -m colline.server.reference > docs/rest.md
