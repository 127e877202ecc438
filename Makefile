# Everything works from a fresh clone with python3 (3.11 or newer), make and a package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# For two cores, as tests often wait; two of the processes start a Neo4j (tests/scheduling.py).
PROCESSES := --numprocesses 3 --dist loadfile
# One process where they would have to share a server.
PARALLEL := $(if $(GRAPHBO_TEST_NEO4J_URI),,$(PROCESSES))

# Without it, each of the hundreds of processes of the tests compiles everything anew.
unexport PYTHONDONTWRITEBYTECODE
# Test processes keep the cores busy: a second thread for algebra would only make the first one wait for it.
check test: export OPENBLAS_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help venv check test docs fuzz faults lint audit demo demo-neo4j bench images lock clean

help: ## Explain the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The stamp is newer than the lock when the environment matches it: the second run is quick.
$(VENV)/.installed: requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "graphbo needs Python 3.11 or newer: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# The demo needs less than the tests do: a quarter of the download.
$(VENV)/.runnable: requirements/demo.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "graphbo needs Python 3.11 or newer: make PYTHON=python3.12 …"; exit 1; }
	@if [ ! -e $(VENV)/.installed ]; then set -ex; $(PYTHON) -m venv $(VENV); \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/demo.txt; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .; fi
	@touch $@

venv: $(VENV)/.installed ## Create .venv with the locked dependencies and graphbo itself

lint: venv ## ruff, mypy --strict, and which way imports point
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache

check: lint ## Lint, then what takes neither a server, a browser nor long: two minutes, for every edit
	$(BIN)/pytest $(PROCESSES) -m 'not neo4j and not chromium and not slow' --hypothesis-profile quick

test: lint ## Lint, then all tests, on SQLite and on a real Neo4j that is started for them
	$(BIN)/pytest $(PARALLEL) --durations 25

# The tools bring packages that graphbo has nothing to do with.
build/audit/.installed: requirements/audit.txt
	$(PYTHON) -m venv build/audit
	build/audit/bin/python -m pip install --quiet --disable-pip-version-check --requirement requirements/audit.txt
	@touch $@

audit: venv build/audit/.installed ## Known vulnerabilities and licences of what users get, and an SBOM
	build/audit/bin/python requirements/audit.py

fuzz: venv ## 2,000 random command lines, each time others; GRAPHBO_FUZZ_SEED=… repeats some
	GRAPHBO_FUZZ_CASES=2000 GRAPHBO_FUZZ_SEED=$${GRAPHBO_FUZZ_SEED:-$$(date +%s)} $(BIN)/pytest tests/cli/test_fuzz.py

demo: $(VENV)/.runnable ## The main job on the embedded store, in the directory demo/
	$(BIN)/python examples/demo.py

demo-neo4j: venv ## The same on a Neo4j that is started here, ending with a link to Neo4j Browser
	$(BIN)/python examples/demo.py --neo4j

bench: venv ## The benchmarks; each prints a table
	@for program in benchmarks/*.py; do case $$program in */_*) ;; *) echo "== $$program"; $(BIN)/python $$program || exit 1;; esac; done

faults: venv ## Kill, cut and fill up everything, and print a table of what survived; FAULTS="--help" for options
	$(BIN)/python -m tests.faults $(FAULTS)

docs: venv ## The documentation as a site that works offline: build/docs/index.html
	$(BIN)/sphinx-build -q --fail-on-warning --keep-going -b html -c docs -d build/docs-cache . build/docs
	@echo "build/docs/index.html"

images: venv ## The pictures of the documentation (needs Chromium, and starts a Neo4j)
	$(BIN)/python docs/images/make.py
	$(BIN)/python docs/images/make_tour.py
	$(BIN)/python docs/images/make_dashboard.py
	$(BIN)/python -m docs.images.make_browser

lock: venv ## Resolve the dependencies anew (for maintainers; needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --custom-compile-command "make lock" --all-extras --group dev --output-file requirements/dev.txt pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --custom-compile-command "make lock" --output-file requirements/run.txt pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --custom-compile-command "make lock" --group build --output-file requirements/demo.txt pyproject.toml

clean: ## Remove what the other targets made
	rm -rf $(VENV) demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
