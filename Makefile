# `make demo` and `make test` set everything up by themselves on a machine with Python 3.11 or later and make.
# The files written in .venv (run, dev, docs) say which locked versions stand there; nothing is installed twice.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
LOCKED := install --require-hashes --requirement
UV_LOCK := uv pip compile --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
	--no-emit-index-url --no-header --no-annotate --quiet

.PHONY: help demo test test-long check docs bench readme lock clean

help:
	@echo "make demo       explain and compare the two kernels of examples/copy.cu; writes report.html"
	@echo "make test       the tests, with a fixed sample of the long ones"
	@echo "make test-long  all tests, and faults planted in src that they must notice"
	@echo "make check      ruff, mypy --strict, import-linter, and whether README.md is up to date"
	@echo "make docs       the documentation as a site, in build/docs"
	@echo "make bench      speed of the executor and of the command line"
	@echo "make readme     write the generated parts of README.md again"
	@echo "make lock       newest allowed versions into requirements*.lock (needs uv)"
	@echo "make clean      remove .venv and what the tools left behind"

demo: $(VENV)/run
	$(BIN)/warplens explain examples/copy.cu
	$(BIN)/warplens compare examples/copy.cu ccopy nccopy
	$(BIN)/warplens explain examples/copy.cu --html report.html
	@echo "Open $(CURDIR)/report.html in a browser: every source line and instruction of both kernels."

test: $(VENV)/dev
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

test-long: $(VENV)/dev
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal --long
	$(BIN)/python benchmarks/mutation/mutate.py check

check: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports
	$(BIN)/python docs/regenerate.py --check

docs: $(VENV)/docs
	$(BIN)/python -m sphinx -q -W --keep-going -c docs/site -d build/doctrees . build/docs
	$(BIN)/python docs/site/links.py build/docs
	@echo "Open $(CURDIR)/build/docs/index.html in a browser."

bench: $(VENV)/dev
	$(BIN)/python benchmarks/executor.py
	$(BIN)/python benchmarks/sizes.py
	$(BIN)/python benchmarks/readiness.py
	$(BIN)/python benchmarks/startup.py

readme: $(VENV)/dev
	$(BIN)/python docs/regenerate.py

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("warplens needs Python 3.11 or later; \
	$(PYTHON) is %d.%d. Name another one: make PYTHON=python3.12" % v[:2])'
	$(PYTHON) -m venv $(VENV)

$(VENV)/run: requirements.lock pyproject.toml | $(BIN)/python
	$(PIP) $(LOCKED) requirements.lock
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev: requirements-dev.lock $(VENV)/run
	$(PIP) $(LOCKED) requirements-dev.lock
	@touch $@

$(VENV)/docs: requirements-docs.lock | $(BIN)/python
	$(PIP) $(LOCKED) requirements-docs.lock
	@touch $@

lock:
	$(UV_LOCK) $(UPGRADE) --group dev pyproject.toml --output-file requirements-dev.lock
	printf "hatchling\neditables\n" | $(UV_LOCK) --constraint requirements-dev.lock pyproject.toml - --output-file requirements.lock
	$(UV_LOCK) --constraint requirements-dev.lock --group pyproject.toml:docs --output-file requirements-docs.lock

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache report.html
