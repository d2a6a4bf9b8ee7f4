# Everything runs in a virtual environment of its own; nothing outside this folder is changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Base worlds that one process has made are read by the others.
export SREGYM_CACHE ?= $(CURDIR)/.worlds

.DEFAULT_GOAL := help
.PHONY: help demo test thorough ray check format bench validate sample shortcuts compat parity hostile prometheus helm fuzz soak adapters trl exports rllib clean

help:  ## Say what can be made.
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## */\t/' | expand -t 12

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

demo: $(READY)  ## Watch an agent diagnose and repair an incident.
	$(BIN)/sregym demo

# Many tests wait for a server or a client: one process more than there are cores.
WORKERS = $(shell $(BIN)/python -c 'import os; print(min(os.cpu_count() + 1, 9))')
SUITE = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --durations=20 --durations-min=10

test: $(READY)  ## Run the tests: of the longest tables a quarter.
	$(SUITE) -m 'not ray and not exhaustive'

thorough: $(READY)  ## Run the tests, every row of every table (an hour or two).
	$(SUITE) -m 'not ray'

ray: $(READY)  ## Run the tests that begin Ray clusters of their own: workers killed, runs resumed, bulk generation.
	RAY_worker_niceness=0 $(BIN)/python -m pytest -m ray --durations=12 --durations-min=5 tests/rollouts tests/cli tests/examples

check: $(READY)  ## Format, lint, types, layers, import cycles.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest tests/architecture

format: $(READY)  ## Format the code and sort the imports.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)  ## Measure what the README promises.
	SREGYM_CACHE= $(BIN)/sregym bench

validate: $(READY)  ## Check every (fault, target) pair of every application.
	$(BIN)/sregym validate --jobs 2

sample: $(READY)  ## Check a stratified sample of the pairs; what no understanding wins there.
	$(BIN)/sregym validate --sample 12 --jobs 2
	$(BIN)/sregym shortcuts --sample 6 --group blind --workers 2

shortcuts: $(READY)  ## Play every policy that understands nothing over all pairs; audit 692 worlds (half a day on two cores).
	$(BIN)/sregym shortcuts --workers 2
	$(BIN)/sregym shortcuts --audit 692 --workers 2

# Single packages laid over the virtual environment, each in a folder of its own, by PYTHONPATH.
OVERLAYS := .overlays
LAY = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(OVERLAYS)
OVER = PYTHONPATH=$(CURDIR)/$(OVERLAYS)

OLDEST := 1.2.2
# What meets Gymnasium: how episodes go and what may happen in them is the same under any release.
MEETING := env registration vector vector_env wrappers numeric limits observation
compat: $(READY)  ## Run the tests that meet Gymnasium on the oldest one that RLlib pins.
	$(LAY)/oldest 'gymnasium==$(OLDEST)'
	$(OVER)/oldest $(BIN)/python -c 'import gymnasium; assert gymnasium.__version__ == "$(OLDEST)", gymnasium'
	$(OVER)/oldest $(SUITE) -m 'not ray and not exhaustive' $(MEETING:%=tests/envs/test_%.py)

fuzz: $(READY)  ## Search at random: examples for every property, hostile requests, then diagnoses and repairs that pay (11 minutes).
	$(SUITE) -m hypothesis --hypothesis-profile=search
	$(BIN)/python -m tests.serve.hostile --seconds 300
	$(BIN)/python -m tests.redteam.search --seconds 120

hostile: $(READY)  ## Play thousands of hostile actions and measure what each costs (20 minutes on two cores).
	$(BIN)/python -m tests.redteam.hostile --jobs 2

soak: $(READY)  ## Serve a week of virtual time at 1,000 times the speed of the wall, everything open (10 minutes).
	$(BIN)/python tools_dev/soak_serving.py

parity: $(READY)  ## Compare the in-process kubectl with a real one, byte for byte; record new lines.
	$(BIN)/python -m tests.parity

prometheus: $(READY)  ## Record anew what a real Prometheus answers (Debian's package, fetched and not installed; a minute).
	$(BIN)/python -m tests.telemetry.record_prometheus

helm: $(READY)  ## Run real Helm 4 against the served cluster (downloads 85 MB once).
	$(LAY)/helm 'helm-python-sdk==0.2.2'
	$(OVER)/helm $(BIN)/python -m pytest tests/clients/test_helm.py

# Frameworks that are heavy, or that pin what others pin differently, each in a virtual environment of its own.
ADAPTERS := .adapters
define WITH
test -x $(ADAPTERS)/$(1)/bin/python || $(PYTHON) -m venv $(ADAPTERS)/$(1)
$(ADAPTERS)/$(1)/bin/python -m pip install --quiet --disable-pip-version-check --editable . pytest pytest-xdist hypothesis $(2)
endef

adapters:  ## Play an episode in OpenEnv, inspect-ai and verifiers themselves (3 minutes, 1.2 GB, once).
	$(call WITH,light,openenv==0.10.0 inspect-ai==0.3.285 uvicorn)
	$(ADAPTERS)/light/bin/python -m pytest tests/adapters/test_openenv.py tests/adapters/test_inspect.py
	$(call WITH,verifiers,verifiers==0.4.0 uv)
	PATH=$(CURDIR)/$(ADAPTERS)/verifiers/bin:$$PATH $(ADAPTERS)/verifiers/bin/python -m pytest tests/adapters/test_verifiers.py

trl:  ## Play an episode in TRL's own trainer (4 minutes, 2 GB with torch for the processor, once).
	$(call WITH,trl,torch==2.13.0+cpu trl==1.16.0 jmespath)
	$(ADAPTERS)/trl/bin/python -m pytest tests/adapters/test_trl.py

exports:  ## Load exported files in Hugging Face's datasets and in pandas (2 minutes, 500 MB, once).
	$(call WITH,exports,datasets==5.2.0 pandas 'minari[arrow]==0.5.4' pillow openai==3.54.0 atif==1.8.0)
	$(ADAPTERS)/exports/bin/python -m pytest tests/rollouts/test_exporters.py tests/rollouts/test_exporters_packages.py

rllib:  ## Train PPO with RLlib for a few iterations (5 minutes, 1.5 GB with torch for the processor, once).
	$(call WITH,rllib,torch==2.13.0+cpu 'ray[rllib]==2.60.0')
	$(ADAPTERS)/rllib/bin/python examples/09_rllib.py

clean:  ## Remove the virtual environment and every cache.
	rm -rf $(VENV) .worlds $(OVERLAYS) $(ADAPTERS) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
