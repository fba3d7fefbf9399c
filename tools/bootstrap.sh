#!/bin/sh
# Make the machine and the virtual environment ready; called by the Makefile before everything.
#
#   VENV=.venv PYTHON= sh tools/bootstrap.sh SET...      (SET: build test lint rl trl …)
#
# 1. What the system must give is looked for by what it does (a compiler that links, a library
#    that pkg-config finds), not by package name, so any distribution and any Python will do.
#    Only what is missing is installed, on Debian, by apt, as root or through sudo; elsewhere
#    and otherwise the list is printed and nothing happens.
# 2. A virtual environment of $PYTHON, or of the first python3 >= 3.10 on PATH that has venv
#    and headers.
# 3. The pinned packages of each SET, hashes required.
#
# When all is there already it only compares files: milliseconds, and no network.
set -eu

venv=${VENV:-.venv}
script=tools/bootstrap.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

say() {
    printf '%s\n' "$*" >&2
}

# What is wrong with interpreter $1, in words; empty when it will do.
python_fault() {
    "$1" - 2>/dev/null <<'PYTHON' || echo "does not run as CPython 3.10 or newer"
import importlib.util, os, sys, sysconfig
headers = {sysconfig.get_path("include"), sysconfig.get_path("platinclude")}
if sys.implementation.name != "cpython" or sys.version_info < (3, 10):
    print("is not CPython 3.10 or newer")
elif not all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")):
    print("has no venv and ensurepip")
elif not any(os.path.exists(os.path.join(folder, "Python.h")) for folder in headers):
    print("has no Python.h")
PYTHON
}

# Print the first interpreter that will do.
find_python() {
    if [ -n "${PYTHON:-}" ]; then
        command -v "$PYTHON" >"$tmp/python" || return 1
        [ -z "$(python_fault "$PYTHON")" ] && cat "$tmp/python"
        return
    fi
    printf '%s\n' "$PATH" | tr ':' '\n' >"$tmp/path"
    while read -r folder; do
        for name in python3 python3.13 python3.12 python3.11 python3.10; do
            [ -x "$folder/$name" ] || continue
            if [ -z "$(python_fault "$folder/$name" </dev/null)" ]; then
                printf '%s\n' "$folder/$name"
                return
            fi
        done
    done <"$tmp/path"
    return 1
}

missing=
need() { # Debian packages, what for
    missing="$missing $1"
    printf '  %-38s %s\n' "$1" "$2" >>"$tmp/missing"
}

look() {
    missing=
    : >"$tmp/missing"
    printf 'int main(void) { return 0; }\n' >"$tmp/main.c"
    # shellcheck disable=SC2086 # CC may hold options
    ${CC:-gcc} "$tmp/main.c" -o "$tmp/main" 2>/dev/null || need "gcc libc6-dev" "C compiler"
    tool=${PKG_CONFIG:-pkg-config}
    command -v "$tool" >/dev/null || need pkg-config "finds the libraries"
    "$tool" --exists 'libseccomp >= 2.5.0' 2>/dev/null || need libseccomp-dev "system call filters"
    "$tool" --exists 'libutf8proc >= 2.5.0' 2>/dev/null || need libutf8proc-dev "identifiers as CPython reads them"
    "$tool" --exists 'libcbor >= 0.6.0' 2>/dev/null || need libcbor-dev "reads what a child answers"
    "$tool" --exists 'cmocka >= 1.1.5' 2>/dev/null || need libcmocka-dev "C unit tests"
    command -v git >/dev/null || need git "which files are tracked (lint)"
    find_python >/dev/null && return
    if [ -n "${PYTHON:-}" ]; then
        say "PYTHON=$PYTHON $(command -v "$PYTHON" >/dev/null && python_fault "$PYTHON" || echo "is not on PATH")"
        exit 1
    fi
    need "python3 python3-venv python3-dev" "CPython >= 3.10 with venv and headers"
}

may_be_root() {
    [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null || { [ -t 0 ] && command -v sudo >/dev/null; }
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

install_missing() {
    say "missing on this system:"
    cat "$tmp/missing" >&2
    if command -v apt-get >/dev/null; then
        if may_be_root; then
            say "installing them with apt-get"
            # shellcheck disable=SC2086 # a list of packages
            if as_root apt-get -qq update >"$tmp/apt" 2>&1 &&
                as_root env DEBIAN_FRONTEND=noninteractive \
                    apt-get -qq install -y --no-install-recommends $missing >>"$tmp/apt" 2>&1; then
                look
                [ -z "$missing" ] && return
                say "still missing:"
                cat "$tmp/missing" >&2
            else
                cat "$tmp/apt" >&2
            fi
        fi
        say "as root:  apt-get update && apt-get install$missing"
    else
        say "install them (the names are Debian's) and call make again"
    fi
    exit 1
}

same() {
    cmp -s "$1" "$2"
}

# A venv of another Python than the one now asked for, one whose Python is gone, and one that was
# moved (its scripts name the old place) are made anew.
venv_is_usable() {
    [ "$(cat "$venv/.place" 2>/dev/null)" = "$(pwd)" ] || return 1
    "$venv/bin/python" -c '' 2>/dev/null || return 1
    [ -z "${PYTHON:-}" ] && return
    ask='import sys; print(sys.version, sys.base_prefix)'
    [ "$("$PYTHON" -c "$ask")" = "$("$venv/bin/python" -c "$ask")" ]
}

if ! same "$script" "$venv/.bootstrap.sh" || ! venv_is_usable; then
    look
    [ -z "$missing" ] || install_missing
    if ! venv_is_usable; then
        python=$(find_python)
        say "making $venv with $("$python" --version) ($python)"
        rm -rf "$venv"
        "$python" -m venv "$venv"
        pwd >"$venv/.place"
    fi
fi

for set in "$@"; do
    wanted=tools/requirements-$set.txt
    same "$wanted" "$venv/.requirements-$set.txt" && continue
    say "installing $wanted"
    # torch: which build is the index's affair, so there is no one hash. trl: everything is named
    # in the file, and not all that the packages in it ask for is wanted.
    case $set in
    torch) options= ;;
    trl | trl-alone) options="--require-hashes --no-deps" ;;
    *) options=--require-hashes ;;
    esac
    # shellcheck disable=SC2086 # a list of options
    "$venv/bin/python" -m pip --disable-pip-version-check install --quiet --quiet \
        $options --requirement "$wanted" >&2
    cp "$wanted" "$venv/.requirements-$set.txt"
done
cp "$script" "$venv/.bootstrap.sh"
