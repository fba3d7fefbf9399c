#!/bin/sh
# `make test` on each CPython of $VERSIONS: pythonX.Y on PATH, else pyenv's, each in a virtual
# environment of its own. What is missing is said loudly, and last.
set -u
tried=
failed=
missing=

find_version() { # X.Y; prints the interpreter
    if command -v "python$1" >/dev/null && "python$1" -c '' 2>/dev/null; then
        command -v "python$1"
    elif command -v pyenv >/dev/null; then
        release=$(pyenv versions --bare | grep "^$1\.[0-9]*$" | sort -t. -k3n | tail -n 1)
        [ -n "$release" ] && echo "$(pyenv prefix "$release")/bin/python$1"
    fi
}

for version in $VERSIONS; do
    python=$(find_version "$version")
    if [ -z "$python" ]; then
        missing="$missing $version"
        continue
    fi
    echo "==== CPython $version ===="
    tried="$tried $version"
    "$MAKE" test "PYTHON=$python" "VENV=.venv-$version" || failed="$failed $version"
done

echo "==== CPython tested:${tried:- none} ===="
[ -z "$missing" ] || echo "==== NOT TESTED, since not found on PATH or under pyenv:$missing ===="
[ -z "$failed" ] || echo "==== FAILED on:$failed ===="
[ -n "$tried" ] && [ -z "$failed" ]
