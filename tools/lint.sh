#!/bin/sh
# Every check of `make lint`, all of them also when one fails; VENV and OURS come from the Makefile.
set -u
failed=

check() { # what, command...
    what=$1
    shift
    began=$(date +%s)
    if "$@"; then
        printf 'ok      %-12s %s s\n' "$what" "$(($(date +%s) - began))"
    else
        printf 'FAILED  %-12s %s\n' "$what" "$*"
        failed="$failed $what"
    fi
}

python_files=
for name in $OURS; do
    [ -e "$name" ] && python_files="$python_files $name"
done
c_files=$(find ext grading guardrails tests -name '*.[ch]' 2>/dev/null | sort)

# shellcheck disable=SC2086 # lists of names without spaces
{
    check format "$VENV/bin/clang-format" --dry-run -Werror $c_files
    check c-rules "$VENV/bin/python" tools/lint_c.py
    check compile "$VENV/bin/python" tools/lint_compile.py --no-tidy
    check tidy "$VENV/bin/python" tools/lint_compile.py
    check binary "$VENV/bin/python" tools/lint_binary.py csandbox/*.so
    check ruff "$VENV/bin/ruff" check --quiet --output-format concise $python_files
    check ruff-format "$VENV/bin/ruff" format --quiet --check --output-format concise $python_files
    check mypy "$VENV/bin/mypy" --no-error-summary
    check tree "$VENV/bin/python" tools/lint_tree.py
    check docs "$MAKE" docs-check
}
[ -z "$failed" ] || {
    printf 'lint failed:%s\n' "$failed"
    exit 1
}
