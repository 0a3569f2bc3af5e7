# Every target makes the virtual environment that it needs, and brings it up to date when
# pyproject.toml or the C++ sources change. Edits of Python files are seen at once.

PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?=
# Tests and examples run in a process for each core: their threads of BLAS wait for each other.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
NATIVE := CMakeLists.txt $(wildcard src/sparseksc/_native/*.cpp src/sparseksc/_native/*.hpp)

.PHONY: help demo test coverage quick test-oldest test-newest test-pure sanitize lint bench docs wheel wheels dist audit scalar cross emulate changelog clean
.DEFAULT_GOAL := help

help:
	@echo "make demo      cluster two spirals, print the figures and write the figures"
	@echo "make test      run the tests and the examples of the docstrings"
	@echo "make coverage  the same, and list the lines that none of them runs"
	@echo "make quick     run the tests that take no time"
	@echo "make sanitize  run the native tests with the address and undefined behaviour sanitizers"
	@echo "make lint      check style (ruff), types (mypy) and layers (import-linter)"
	@echo "make bench     run the benchmarks"
	@echo "make docs      run the gallery, build the documentation into site/ and check it"
	@echo "make wheel     build a wheel into dist/; it fails where the compiler does"
	@echo "make wheels    build the wheels of this system for all interpreters (cibuildwheel; needs Docker on Linux)"
	@echo "make dist      build the sdist and a wheel, and check both as they would be installed"
	@echo "make scalar    run the native tests against a build without vectors, as MSVC makes it"
	@echo "make cross     compile and link the native module for five other systems"
	@echo "make emulate   run the native tests on an emulated aarch64 machine"
	@echo "make clean     remove everything that make has made"

demo: $(VENV)/.plot
	@echo "Clustering two spirals"
	$(BIN)/python -m sparseksc.demo

test: $(VENV)/.test
	$(ONE_THREAD) $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile \
	    $(PYTEST_ARGS)

# Tracing takes a fifth to a half more time.
coverage:
	$(MAKE) test PYTEST_ARGS="--cov --cov-report=term $(PYTEST_ARGS)"

quick: $(VENV)/.test
	$(ONE_THREAD) $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile \
	    --quiet -m "not slow" $(PYTEST_ARGS)

# Each in an environment of its own: the oldest dependencies that pyproject.toml allows, the newest
# ones with their pre-releases, and no native module.
test-oldest:
	$(MAKE) build/oldest/.test VENV=build/oldest
	build/oldest/bin/python packaging/oldest_dependencies.py > build/oldest/oldest.txt
	build/oldest/bin/python -m pip install --quiet --group test -r build/oldest/oldest.txt
	$(ONE_THREAD) build/oldest/bin/python -m pytest --numprocesses auto --quiet $(PYTEST_ARGS)

test-newest:
	$(MAKE) build/newest/.test VENV=build/newest
	build/newest/bin/python -m pip install --quiet --pre --upgrade numpy scipy scikit-learn
	$(ONE_THREAD) build/newest/bin/python -m pytest --numprocesses auto --quiet $(PYTEST_ARGS)

test-pure:
	SPARSEKSC_PURE=1 SPARSEKSC_NATIVE=0 $(MAKE) test VENV=build/pure

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

# As `sanitize`, with the loops as MSVC compiles them.
scalar: $(VENV)/.test
	rm -rf build/scalar
	CMAKE_ARGS=-DSPARSEKSC_SCALAR=ON $(BIN)/python -m pip install --quiet --no-deps \
	    --config-settings=build-dir=build/scalar/cmake --target build/scalar/package .
	packages="$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"; \
	PYTHONPATH="$(CURDIR)/build/scalar/package:$$packages" \
	    $(BIN)/python -S -m pytest --quiet -p no:cacheprovider tests/_native

wheel: $(VENV)/.dist
	SPARSEKSC_REQUIRE_NATIVE=1 $(BIN)/python -m build --wheel

wheels: $(VENV)/.wheels
	$(BIN)/python -m cibuildwheel --output-dir dist

dist: $(VENV)/.dist
	rm -rf dist
	$(BIN)/python packaging/check_dist.py

# WHEELS is set where others have built them.
WHEELS ?= dist
audit: $(VENV)/.dist
	$(BIN)/python packaging/check_dist.py --audit $(WHEELS)

cross: $(VENV)/.cross
	$(BIN)/python packaging/cross_compile.py --link

emulate: $(VENV)/.cross
	packaging/emulate_aarch64.sh $(BIN)/python tests/_native

# A tag must have its section in CHANGELOG.md: make changelog TAG=v1.2.3
# A change must be in it: make changelog SINCE=origin/main
TAG ?=
SINCE ?=
changelog:
	$(PYTHON) packaging/check_version.py $(TAG)
	@[ -z "$(SINCE)" ] || ! git diff --quiet "$(SINCE)"...HEAD -- CHANGELOG.md || \
	    { echo "CHANGELOG.md has no line for this change." >&2; exit 1; }

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/zizmor --offline --quiet .github

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

docs: $(VENV)/.docs
	$(ONE_THREAD) $(BIN)/python -m sphinx -b html -W --keep-going -q -d build/doctrees docs site
	$(BIN)/python docs/check_site.py site

clean:
	rm -rf $(VENV) build dist site docs/gallery docs/generated .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "sparseksc needs Python 3.11 or newer; set PYTHON=..." >&2; exit 1; }
	@echo "Making an environment in $(VENV)"
	$(PYTHON) -m venv $(VENV)

# Dependency groups need pip 25.1.
$(VENV)/.package: pyproject.toml $(NATIVE) | $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@echo "Installing NumPy, SciPy and scikit-learn, and compiling the native module: one to two minutes"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

# These build the package themselves, or not at all.
$(VENV)/.dist $(VENV)/.wheels $(VENV)/.cross: pyproject.toml | $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --group $(subst .,,$(notdir $@))
	@touch $@

$(VENV)/.%: $(VENV)/.package
	@echo "Installing what '$*' needs"
	$(BIN)/python -m pip install --quiet --group $*
	@touch $@
