#!/bin/sh
# API tests with `_core` under AddressSanitizer and UBSan; VENV_PY comes from the Makefile.
#
# A shadow tree below build/asan holds the sanitized package beside copies of what the tests read,
# so that nothing imports the ordinary one. Only the caller's process is sanitized: the confined
# child keeps its own policy, under which AddressSanitizer can not run (see tools/native.py).
# Leaks are looked for in the C tests, whose process is all ours; CPython keeps much until its end.
set -eu
tree=build/asan/tree

rm -rf "$tree"
mkdir -p "$tree"
CSANDBOX_SANITIZE=1 "$VENV_PY" setup.py --quiet \
    build --build-base build/asan --build-lib "$tree"
for name in tests docs examples ext profiles pyproject.toml Makefile *.md; do
    [ ! -e "$name" ] || cp -r "$name" "$tree/"
done

[ -d tests/api ] || {
    echo "asan: tests/api is not there" >&2
    exit 1
}
cd "$tree"
sanitized() {
    LD_PRELOAD=$(${CC:-gcc} -print-file-name=libasan.so) \
        PYTHONMALLOC=malloc \
        ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=0 \
        UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
        timeout --kill-after=30 2400 "$VENV_PY" "$@"
}

# That this is the sanitized one, before its silence is taken for health.
sanitized - <<'PYTHON'
import csandbox._core, os
path = csandbox._core.__file__
assert path.startswith(os.getcwd() + os.sep), path
assert b"__asan_report_load" in open(path, "rb").read(), path
PYTHON
sanitized -m pytest tests/api "$@"
