PYTHON ?= python3
VENV ?= .venv
VENV_PY = $(VENV)/bin/python
.PHONY: build test-py
$(VENV)/.ready:
	$(PYTHON) -m venv $(VENV)
	$(VENV_PY) -m pip install -q 'setuptools>=77' wheel tomli pytest
	touch $@
build: $(VENV)/.ready
	$(VENV_PY) setup.py -q build_ext --inplace
test-py: build
	$(VENV_PY) -m pytest
