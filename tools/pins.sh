#!/bin/sh
# Renew the pinned requirements with hashes, one file for all supported interpreters and machines.
# uv resolves for all of them at once; it is not pinned, since only a maintainer runs this.
set -eu
tool=$(mktemp -d)
trap 'rm -rf "$tool"' EXIT
"$VENV/bin/python" -m pip install --quiet --target "$tool" uv
# torch is apart (requirements-torch.txt), with what it would bring.
echo "torch; python_version < '3'" >"$tool/no-torch"
for set in build test lint rl trl trl-alone bench notebook docs; do
    case $set in
    trl) options="--override $tool/no-torch" ;;
    trl-alone) options=--no-deps ;;
    *) options= ;;
    esac
    {
        echo "# Made by \`make pins\` from requirements-$set.in; install with pip --require-hashes."
        # shellcheck disable=SC2086 # a list of options
        "$tool/bin/uv" pip compile $options --quiet --universal --python-version 3.10 \
            --fork-strategy fewest --generate-hashes --no-header --no-annotate --upgrade \
            "tools/requirements-$set.in"
    } >"$tool/new"
    cp "$tool/new" "tools/requirements-$set.txt"
done
