# Every target makes the virtual environment that it needs, and brings it up to date when
# pyproject.toml or the C++ sources change. Edits of Python files are seen at once.

PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?=

BIN := $(VENV)/bin
NATIVE := CMakeLists.txt $(wildcard src/sparseksc/_native/*.cpp src/sparseksc/_native/*.hpp)

.PHONY: help demo test quick sanitize lint bench docs clean
.DEFAULT_GOAL := help

help:
	@echo "make demo      cluster two spirals, print the figures and write the figures"
	@echo "make test      run the tests and the examples of the docstrings, with coverage"
	@echo "make quick     run the tests that take no time"
	@echo "make sanitize  run the native tests with the address and undefined behaviour sanitizers"
	@echo "make lint      check style (ruff), types (mypy) and layers (import-linter)"
	@echo "make bench     run the benchmarks"
	@echo "make docs      run the gallery, build the documentation into site/ and check it"
	@echo "make clean     remove everything that make has made"

demo: $(VENV)/.plot
	@echo "Clustering two spirals"
	$(BIN)/python -m sparseksc.demo

test: $(VENV)/.test
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile \
	    --cov --cov-report=term $(PYTEST_ARGS)

quick: $(VENV)/.test
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile \
	    --quiet -m "not slow" $(PYTEST_ARGS)

# A build of its own. `-S` leaves out the hook of the editable installation, which comes before
# PYTHONPATH. The interpreter is not instrumented: it needs the libraries first, and leaks.
SANITIZED := build/sanitize
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g
FUZZ_CASES ?= 5000

sanitize: $(VENV)/.test
	rm -rf $(SANITIZED)
	CXXFLAGS="$(SANITIZE)" LDFLAGS="$(SANITIZE)" $(BIN)/python -m pip install --quiet --no-deps \
	    --config-settings=build-dir=$(SANITIZED)/cmake --target $(SANITIZED)/package .
	libraries="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)"; \
	packages="$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"; \
	export PYTHONPATH="$(CURDIR)/$(SANITIZED)/package:$$packages" ASAN_OPTIONS=detect_leaks=0; \
	export LD_PRELOAD="$$libraries" UBSAN_OPTIONS=print_stacktrace=1; \
	$(BIN)/python -S tests/fuzz_native.py --cases $(FUZZ_CASES) && \
	$(BIN)/python -S -m pytest --quiet -p no:cacheprovider tests/_native

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -b html -W --keep-going -q -d build/doctrees docs site
	$(BIN)/python docs/check_site.py site

clean:
	rm -rf $(VENV) build dist site docs/gallery docs/generated .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "sparseksc needs Python 3.11 or newer; set PYTHON=..." >&2; exit 1; }
	@echo "Making an environment in $(VENV)"
	$(PYTHON) -m venv $(VENV)

# Dependency groups need pip 25.1.
$(VENV)/.package: pyproject.toml $(NATIVE) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@echo "Installing NumPy, SciPy and scikit-learn, and compiling the native module: one to two minutes"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.%: $(VENV)/.package
	@echo "Installing what '$*' needs"
	$(BIN)/python -m pip install --quiet --group $*
	@touch $@
