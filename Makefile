# Needs Python 3.11 or newer and make; everything else is installed into .venv.
#   make verify   decide every claim and print the verdicts
#   make test     run the proofs and the tests
#   make bench    measure speed, as ratios, into benchmarks/latest.json
#   make coq      have Coq check the proofs written for it, in about a minute
#   PYTHON=/path/to/python make verify   use a particular interpreter

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --constraint constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help verify test lint coq bench clean

help: ## say what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

verify: $(VENV)/installed ## decide every claim and print one line a claim
	$(BIN)/paper-checks run --jobs 2

test: $(VENV)/installed-dev ## run the proofs, the tests and the notebooks
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist loadfile theory tests

lint: $(VENV)/installed-dev ## check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

coq: $(VENV)/created ## have Coq check its proofs and refuse altered ones (Debian: coq, libcoq-coquelicot)
	@timeout 500 $(BIN)/python -m theory.coq_twins --mutants

bench: $(VENV)/installed-dev ## measure speed, as ratios side by side
	$(BIN)/python -m benchmarks

clean: ## remove what make and Python built
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis theory/coq/.build
	find theory numerics paper_checks tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The files below record that a step was completed; an interrupted step is done again from its start.

$(VENV)/created:
	@for python in $(PYTHON) python3.13 python3.12 python3.11 python3; do \
	    if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        echo "creating $(VENV) with $$($$python --version)"; \
	        rm -rf $(VENV) && $$python -m venv $(VENV) && touch $@; exit; \
	    fi; \
	done; \
	echo "Python 3.11 or newer, with its venv module, was not found (tried: $(strip $(PYTHON) python3.13 python3.12 python3.11 python3))." >&2; \
	echo "Install it (on Debian: python3 and python3-venv), or name it: PYTHON=/path/to/python make verify" >&2; \
	exit 1

$(VENV)/installed: $(VENV)/created pyproject.toml constraints.txt
	@echo "installing (the first time this takes a few minutes)"
	@$(PIP) --quiet pip setuptools # the pip that comes with Python may be too old to resolve this in minutes
	@$(PIP) --no-build-isolation --editable '.[provers]'
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	@echo "installing the tools for the tests"
	@$(PIP) --no-build-isolation --editable '.[dev,notebooks,provers]'
	@touch $@
