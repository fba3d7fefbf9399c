#!/bin/sh
# Renew the pinned requirements with hashes, one file for all supported interpreters and machines.
# uv resolves for all of them at once; it is not pinned, since only a maintainer runs this.
set -eu
tool=$(mktemp -d)
trap 'rm -rf "$tool"' EXIT
"$VENV/bin/python" -m pip install --quiet --target "$tool" uv
for set in build test lint rl bench notebook docs; do
    {
        echo "# Made by \`make pins\` from requirements-$set.in; install with pip --require-hashes."
        "$tool/bin/uv" pip compile --quiet --universal --python-version 3.10 \
            --fork-strategy fewest --generate-hashes --no-header --no-annotate --upgrade \
            "tools/requirements-$set.in"
    } >"$tool/new"
    cp "$tool/new" "tools/requirements-$set.txt"
done
