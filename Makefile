# `make demo` shows the product; `make test` proves it. Both set up what they need.

SHELL := /bin/bash
.DEFAULT_GOAL := help
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
# Two files at a time: tests mostly wait for the programs they drive. A worker that dies is not replaced: its successor
# would run the same test again and die of it too.
PARALLEL := -n 2 --max-worker-restart 0 --durations 20

# In the plain C locale Python cannot read its own list of folders where the path has an umlaut.
ifneq ($(filter C POSIX,$(LC_ALL)),)
export LC_ALL := C.UTF-8
endif

# Without compiled files every worker of every stage would rewrite the assertions of all tests anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test quick flake lint format protocol check checks unit coverage editors settings torture mutants bench picture clean setup dist docs

help: ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(VENV)/.installed ## a virtual environment with the program in it

demo: $(VENV)/.installed ## a conversation on a scratch project, offline (IN=nvim or IN=code opens an editor)
	@env -u MAKELEVEL -u MAKEFLAGS -u MFLAGS $(BIN)/assent demo --in $(or $(IN),terminal)

test: checks unit editors ## everything: lint, types, unit, end to end, real editors

# Beside each other: either keeps one core busy and leaves the other alone.
checks: $(VENV)/.tools
	@$(MAKE) --no-print-directory --jobs=2 check coverage
	$(BIN)/python -m benchmarks --quick

check: $(VENV)/.tools
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright --warnings
	$(BIN)/vulture
	$(BIN)/python -I .ci/licences.py
	$(BIN)/python -m assent.wire.generate --check
	$(BIN)/python -I .ci/settings.py --check
	$(BIN)/python -I .ci/reference.py --check

lint: check ## ruff and pyright

protocol: $(VENV)/.installed ## write the mirrors of the wire: TypeScript, Lua, docs/protocol.md, docs/api.md
	$(BIN)/python -m assent.wire.generate
	$(BIN)/python .ci/served.py
	$(BIN)/python -I .ci/reference.py

format: $(VENV)/.tools ## let ruff tidy the code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

settings: $(VENV)/.tools ## write the settings schema and docs/settings.md from their structure
	$(BIN)/python -I .ci/settings.py

# The layers below the fronts, and the heart of the permissions: no spawned servers, no editors.
QUICK := tests/test_architecture.py tests/context tests/editor tests/engine tests/extensions tests/model tests/sessions \
  tests/storage $(addprefix tests/permissions/test_,chain.py cases.py flags.py git_lines.py red_team_cases.py rules.py)

quick: $(VENV)/.tools ## the daily loop: lint and the fast tests, in a minute and a half
	$(BIN)/ruff check
	$(PYTEST) $(PARALLEL) -m "not torture and not editor" $(QUICK)

unit: $(VENV)/.tools
	$(PYTEST) $(PARALLEL) -m "not torture and not editor" --ignore tests/permissions tests

# What it counted goes to a file of this run's own: another run in the same folder counts too.
coverage: export COVERAGE_FILE := .cache/coverage-$(shell echo $$PPID)
coverage: $(VENV)/.tools
	@mkdir -p .cache
	$(BIN)/coverage run --branch --source=assent.permissions -m pytest -m "not torture and not editor" tests/permissions
	$(BIN)/coverage report --fail-under=100
	@rm -f $$COVERAGE_FILE

editors: $(VENV)/.tools
	$(PYTEST) $(PARALLEL) -m "editor and not torture" tests

flake: $(VENV)/.tools ## the real-editor tests N times on a busy machine (N=20), with a table of what ever failed
	$(BIN)/python tests/flake.py $(or $(N),20)

torture: $(VENV)/.tools ## the long seeded runs
	$(PYTEST) -m torture tests

mutants: $(VENV)/.tools ## change the engine in small ways and see whether a test notices (M=module for one)
	$(BIN)/python .ci/mutants.py run $(M)

bench: $(VENV)/.tools ## ours against the floor, in one interleaved run (PEERS=pi,claude beside them; WRITE=1: RESULTS.md)
	PEERS=$(PEERS) $(BIN)/python -m benchmarks $(if $(WRITE),--write)

picture: $(VENV)/.tools ## record the pictures of the README anew: the terminal, VS Code and Neovim
	PYTHONPATH=tests/support $(BIN)/python -m terminal.picture docs/demo.svg
	PYTHONPATH=tests/support $(BIN)/python -m picture docs/review.webp

dist: $(VENV)/.tools ## build wheel, sdist and .vsix twice, compare them, and try them in an empty environment
	$(BIN)/python -I .ci/dist.py

docs: $(VENV)/.docs ## the documentation as a site in out/docs; warnings fail
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir out/docs

clean: ## remove what was built
	rm -rf $(VENV) .cache dist out .pytest_cache .ruff_cache .hypothesis .coverage

$(VENV)/.installed: pyproject.toml constraints.txt
	@.ci/install $(VENV) $@ .

$(VENV)/.tools: pyproject.toml constraints.txt | $(VENV)/.installed
	@.ci/install $(VENV) $@ '.[dev]'

$(VENV)/.docs: pyproject.toml constraints.txt | $(VENV)/.installed
	@.ci/install $(VENV) $@ '.[docs]'
