# Two commands on a fresh machine with Python 3.11 and pip: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/pip --disable-pip-version-check --quiet
# Most of what is installed is never imported: compiling all of it to bytecode took a third of the installation.
INSTALL := install --no-compile --constraint constraints.txt --editable
CORES ?= 2

.PHONY: demo serve test test-all test-service lint types docs results prebuilt clean

demo: $(VENV)/.installed
	$(VENV)/bin/manetdiff demo

# The live controller with a flight under way: open the address that it prints.
serve: $(VENV)/.installed-serve
	$(VENV)/bin/manetdiff serve --demo

# Types are checked while the tests run.
test: lint $(VENV)/.installed-dev
	$(VENV)/bin/mypy & types=$$!; $(VENV)/bin/pytest -m "not slow and not service and not browser" -n $(CORES) --dist loadfile && wait $$types

test-all: lint types $(VENV)/.installed-dev
	$(VENV)/bin/pytest -m "not service and not browser" -n $(CORES) --dist loadfile

# The service under load, killed, fuzzed, fed by real senders, and its page in a browser: some twenty minutes. What is not
# installed (chromium, PostgreSQL, npm for axe-core) is skipped by name.
test-service: $(VENV)/.installed-service
	$(VENV)/bin/pytest -m "service or browser" -rs

lint: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(VENV)/.installed-dev
	$(VENV)/bin/mypy

# The documentation as a site, in site/index.html. The variable silences a notice of the theme about its successor.
docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict

# The figures of docs/results: hours on one core, most of them for presets of large fleets and for the paper's tables,
# which take T over time from the rows that bench keeps.
results: $(VENV)/.installed-dev
	mkdir -p docs/results
	$(VENV)/bin/manetdiff solve docs/examples/escort.json --moves 50000 --plot docs/results/topology.png
	$(VENV)/bin/python -c "from manetdiff.data import load_benchmark; from manetdiff.pictures import draw_topology; \
	  draw_topology(load_benchmark('bench1000')[0].topology, path='docs/results/topology-1000.svg')"
	$(VENV)/bin/manetdiff evaluate --markdown docs/results/baselines.md
	$(VENV)/bin/manetdiff evaluate bench64 bench256 bench1000 radios --markdown docs/results/sets.md
	$(VENV)/bin/manetdiff bench --scaling --markdown docs/results/scaling.md
	$(VENV)/bin/manetdiff bench --kept docs/results/paper/.rows --markdown docs/results/search.md
	$(VENV)/bin/manetdiff bench --presets --kept docs/results/paper/.rows --markdown docs/results/presets.md \
	  --plot docs/results/presets.png
	$(VENV)/bin/python scripts/updates_by_radio.py --out docs/results/updates.md
	$(VENV)/bin/manetdiff reproduce --out docs/results/paper

# Compiled code for this platform, to be packaged, for this Python and others that are there (make prebuilt
# ALSO="python3.12 python3.13"); after a change of compiled functions or of numba.
prebuilt: $(VENV)/.installed
	$(VENV)/bin/python scripts/make_prebuilt.py --also $(ALSO)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) $(INSTALL) .
	touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) $(INSTALL) ".[dev]"
	touch $@ $(VENV)/.installed $(VENV)/.installed-serve

$(VENV)/.installed-serve: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) $(INSTALL) ".[serve]"
	touch $@ $(VENV)/.installed

$(VENV)/.installed-service: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) $(INSTALL) ".[service-tests]"
	touch $@ $(VENV)/.installed $(VENV)/.installed-dev $(VENV)/.installed-serve

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis demo
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
