# csandbox: everything from a plain clone. `make help` lists the targets.
#
# Each target does the set-up that it needs, once: Debian packages when something is missing
# and root or sudo is there, a virtual environment, pinned packages, tree-sitter's sources, the
# extensions. tools/bootstrap.sh and tools/native.py say how; what is there is not made again.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
SHELL = /bin/sh
MAKEFLAGS += --no-print-directory

# The interpreter of the virtual environment; empty: the first python3 >= 3.10 on PATH that will do.
PYTHON ?=
VENV ?= .venv
VENV_PY = $(CURDIR)/$(VENV)/bin/python
VERSIONS = 3.10 3.11 3.12 3.13
# A folder with corpus/ and datasets/ for `make acceptance`.
CSANDBOX_DATA ?=
# Machines of `make test-kernels`; empty: all (tools/test_kernels.py --list).
KERNELS ?=
# Test files run side by side, one to a processor; TEST_WORKERS=0: one after the other, in one process.
TEST_WORKERS ?= $(shell nproc)
# More options for pytest, as in: make test-py PYTEST="-k guard -x"
PYTEST ?=
# `make differential DIFF_SHARE=100 DIFF_S=600` looks at every file; DIFF has more options and paths.
DIFF_SHARE ?= 10
DIFF_S ?= 60
DIFF ?=
FUZZ_S ?= 60
# More options for `make bench`, as in: make bench BENCH="--only warm where" or BENCH="--long 100000"
BENCH ?=
# A suite that hangs is a failure, not a wait.
TEST_TIMEOUT_S = 2400
OURS = csandbox csandbox_pytest tools tests bench docs/conf.py docs/_ext examples setup.py

export PIP_DISABLE_PIP_VERSION_CHECK = 1

ready = @VENV='$(VENV)' PYTHON='$(PYTHON)' sh tools/bootstrap.sh

.PHONY: help
help: ## This list
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

# ---- build -----------------------------------------------------------------------------------

.PHONY: build
build: ## Compile both extensions and install csandbox (editable) into .venv
	$(ready) build
	@$(VENV_PY) setup.py --quiet build_ext --inplace
	@cat setup.py pyproject.toml | cmp -s - $(VENV)/.csandbox || { \
		$(VENV_PY) -m pip install --quiet --quiet --no-index --no-deps --no-build-isolation \
			--editable . && cat setup.py pyproject.toml >$(VENV)/.csandbox; }

.PHONY: demo
demo: build ## Run the example programs, honest and hostile, and say which layer stopped them
	$(ready) build test
	@$(VENV_PY) examples/demo.py

.PHONY: dist
dist: build ## Wheel and source distribution in dist/; the latter builds offline
	@rm -rf dist
	@$(VENV_PY) -m build --no-isolation --outdir dist . >build/dist.log 2>&1 || \
		{ cat build/dist.log; exit 1; }
	@ls -l dist

.PHONY: clean
clean: ## Remove what was built; keeps .venv and the fetched sources
	@rm -rf build dist csandbox.egg-info csandbox/_builtin_profiles.py csandbox/_rule_pages.py
	@rm -f csandbox/_attack_programs.py
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find csandbox -name '*.so' -delete
	@find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean ## Remove also the virtual environments and the fetched sources
	@rm -rf .venv .venv-* third_party/src

# ---- tests -----------------------------------------------------------------------------------

.PHONY: test
test: test-c test-py ## All tests

.PHONY: test-c
test-c: build ## C unit tests
	@$(VENV_PY) tools/ctests.py

.PHONY: test-py
test-py: build ## Python tests: API, CLI, kernel, escapes, rules, build
	$(ready) build test notebook
	@timeout --kill-after=30 $(TEST_TIMEOUT_S) $(VENV_PY) -m pytest \
		--numprocesses $(TEST_WORKERS) --dist loadfile $(PYTEST)

.PHONY: test-all
test-all: ## All tests on each supported CPython that is found
	@VERSIONS='$(VERSIONS)' MAKE='$(MAKE)' sh tools/test_all.sh

.PHONY: test-kernels
test-kernels: build ## Boot Debian's kernels under qemu and test the layers in each (KERNELS= some of them)
	$(ready) build test
	@$(VENV_PY) tools/test_kernels.py $(KERNELS)

.PHONY: asan
asan: build ## C tests and API tests under AddressSanitizer and UBSan
	$(ready) build test
	@$(VENV_PY) tools/ctests.py --sanitize
	@VENV_PY='$(VENV_PY)' sh tools/asan.sh $(PYTEST)

.PHONY: test-rl
test-rl: build ## csandbox.rl and csandbox.ray by their frameworks' own clients (installs Ray, OpenEnv, …)
	$(ready) build test rl
	@$(VENV_PY) -m pytest tests/rl tests/ray $(PYTEST)

# An environment of its own: torch and what trains with it, 2 GB with the CPU build of torch.
trl_ready = @VENV='$(VENV)-trl' PYTHON='$(VENV_PY)' sh tools/bootstrap.sh torch trl trl-alone
TRL_TESTS = $(addprefix tests/rl/test_,trl.py verl.py livecodebench.py rubric.py)

.PHONY: test-trl
test-trl: build ## TRL's trainer, verl's reward managers and LiveCodeBench's harness with our rewards (installs torch)
	$(trl_ready)
	@PYTHONPATH='$(CURDIR)' HF_HUB_OFFLINE=1 $(VENV)-trl/bin/python -m pytest $(TRL_TESTS) $(PYTEST)

.PHONY: differential
differential: build ## Parser against CPython: DIFF_SHARE percent of all files, DIFF_S seconds of hunting
	$(ready) build test
	@$(VENV_PY) tools/differential.py --share $(DIFF_SHARE) --hunt $(DIFF_S) $(DIFF)

.PHONY: fuzz
fuzz: build ## Guard and renderer under libFuzzer, ASan and UBSan, for FUZZ_S seconds
	$(ready) build
	@VENV='$(VENV)' sh tests/fuzz/run.sh $(FUZZ_S)

.PHONY: acceptance
acceptance: build ## Real programs and known escapes; needs CSANDBOX_DATA=DIR
	$(ready) build test
	@$(VENV_PY) tools/acceptance.py --data '$(CSANDBOX_DATA)'

.PHONY: acceptance-grading
acceptance-grading: build ## Grading on HumanEval and contests, hacks, audits; needs CSANDBOX_DATA=DIR
	$(ready) build test
	@$(VENV_PY) tools/acceptance_grading.py --data '$(CSANDBOX_DATA)'

.PHONY: bench
bench: build ## Figures against other ways to run Python, one interleaved run; BENCH="--long 100000"
	$(ready) build test
	@$(VENV_PY) -m bench.rivals
	@$(VENV_PY) -m bench $(BENCH)

.PHONY: bench-plot
bench-plot: build ## The comparison of the last `make bench` as an SVG: docs/bench.svg
	$(ready) build test
	@$(VENV_PY) -m bench.plot

.PHONY: bench-load
bench-load: build ## Verdicts of 200 programs near their CPU limit, alone and beside 16 busy processes
	$(ready) build test
	@$(VENV_PY) -m bench.load

.PHONY: soak
soak: build ## 5000 runs from 32 threads and from 8 processes, 500 killed hosts: nothing is left
	$(ready) build test
	@$(VENV_PY) -m bench.soak
	@$(VENV_PY) -m bench.kills

# ---- pages -----------------------------------------------------------------------------------

# An environment of their own: Sphinx and its friends ask for other versions than our test clients.
docs_ready = @VENV='$(VENV)-docs' PYTHON='$(VENV_PY)' sh tools/bootstrap.sh docs
sphinx = PYTHONPATH='$(CURDIR)' $(VENV)-docs/bin/python -m sphinx --quiet --fail-on-warning \
	--keep-going --doctree-dir build/doctrees

.PHONY: docs
docs: build ## The pages of docs/ as HTML in build/docs; warnings and dead internal links are errors
	$(docs_ready)
	@$(sphinx) -b html docs build/docs && echo "written to build/docs/index.html"

.PHONY: docs-check
docs-check: build ## The same without writing anything (part of `make lint`)
	$(docs_ready)
	@$(sphinx) -b dummy docs build/docs-check

.PHONY: docs-links
docs-links: build ## Whether external links of the pages still lead somewhere (asks the network)
	$(docs_ready)
	@$(sphinx) -b linkcheck docs build/docs-links

# ---- quality ---------------------------------------------------------------------------------

.PHONY: lint
lint: build ## Warnings as errors, clang-format, clang-tidy, ruff, mypy and our own lints
	$(ready) build test lint
	@VENV='$(VENV)' OURS='$(OURS)' MAKE='$(MAKE)' sh tools/lint.sh

.PHONY: picture
picture: build ## docs/how-to/notebook.png, a real notebook photographed; needs Debian's chromium
	$(ready) build test notebook
	@$(VENV_PY) tools/notebook_picture.py

.PHONY: fmt
fmt: ## Format C and Python
	$(ready) build lint
	@find ext grading guardrails tests -name '*.[ch]' 2>/dev/null | xargs $(VENV)/bin/clang-format -i
	@$(VENV)/bin/ruff check --quiet --fix-only $(wildcard $(OURS))
	@$(VENV)/bin/ruff format --quiet $(wildcard $(OURS))

.PHONY: pins
pins: ## Renew tools/requirements-*.txt from their .in files (asks the package index)
	$(ready) build
	@VENV='$(VENV)' sh tools/pins.sh
