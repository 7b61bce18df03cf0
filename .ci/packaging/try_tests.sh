#!/bin/sh
# Runs tests of the Python package on its wheel where there is nothing else: the contract of an environment, the observations
# of `deploy`, and a short training. Called by `./dev release-check` for aarch64, where the whole suite would take hours under
# qemu. Tests that draw are left out: on aarch64, Mesa's software driver of Debian 12 ends the process, and that of Debian 13
# draws.
#
# usage: sh try_tests.sh FOLDER
# FOLDER has the wheel, and tests/, examples/, pyproject.toml of the repository.
set -eu
cp -r "$1/tests" "$1/examples" "$1/pyproject.toml" .
python3 -m venv venv
# the last PyTorch for aarch64 without the libraries of a GPU
venv/bin/pip install -q numpy gymnasium "pytest>=9" tqdm "torch==2.5.1" "$1"/mvsim_gym-*-"$(python3 -c 'import sys; print(sys.implementation.cache_tag.replace("cpython-", "cp"))')-"*_"$(uname -m)".whl
venv/bin/python -m pytest -q -p no:cacheprovider -m "not slow" -k "(NavArena or not v0) and not pictures and not looking and not checker_of" \
  tests/python/test_contract.py
venv/bin/python -m pytest -q -p no:cacheprovider -m "not slow" -k "NavArena or NavMap or Race or OffRoad or Parking or Greenhouse" \
  tests/python/test_deploy_parity.py
venv/bin/python examples/ppo.py --steps 60000 --episodes 20 >learned
cat learned
# it learns: the mean return of the last episodes rises, from some -12
awk '/steps\/s/ { last = $NF; if (!count++) first = $NF } END { exit !(last > first + 2) }' learned
