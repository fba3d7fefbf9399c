#!/bin/sh
# Fuzz guard and renderer, and for a quarter of the time values and comparators, under ASan and UBSan; needs clang with libFuzzer (Debian: clang).
# The time limit of one input is by the wall clock and generous: a busy machine is no finding.
#   run.sh SECONDS [SEEDS...]   SEEDS: more folders of sources. New inputs land in
#                               build/fuzz/corpus, crashes in build/fuzz
#   run.sh merge FOLDER...      the smallest inputs that still cover what FOLDERs and the kept
#                               corpus cover, into tests/fuzz/corpus.b64
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
clang=${CLANG:-clang}
python=${VENV:-.venv}/bin/python
out=build/fuzz
mkdir -p "$out/corpus" "$out/obj" "$out/seeds"
command -v "$clang" >/dev/null || {
    echo "no $clang: install clang (as root: apt-get install clang), or name one in CLANG" >&2
    exit 1
}
sanitize="-g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"
tree=third_party/src/tree-sitter
grammar=third_party/src/tree-sitter-python/src

compile() { # source, flags...
    object=$out/obj/$(echo "$1" | tr / _).o
    source=$1
    shift
    objects="$objects $object"
    [ -e "$object" ] && [ -z "$(find "$source" $headers -newer "$object")" ] && return
    "$clang" "$@" -c "$source" -o "$object"
}

objects=
headers=
compile guardrails/recovery.c -std=c11 -w -O1 -g -fsanitize=address,fuzzer-no-link \
    -D_POSIX_C_SOURCE=200112L -D_DEFAULT_SOURCE -I$tree/include -I$tree/src
compile $grammar/parser.c -std=c11 -w -O1 -g -I$grammar
compile $grammar/scanner.c -std=c11 -w -O1 -g -fsanitize=address,fuzzer-no-link -I$grammar
headers=$(ls ext/*.h guardrails/*.h guardrails/*.def)
for source in $(ls guardrails/*.c | grep -v /recovery.c) guardrails/rules/*.c ext/error.c tests/fuzz/fuzz_guard.c; do
    # shellcheck disable=SC2086 # a list of flags
    compile "$source" -std=gnu11 -D_GNU_SOURCE= -Wall -Wextra $sanitize -fsanitize=fuzzer-no-link \
        -Iext -Iguardrails -isystem $tree/include
done
# shellcheck disable=SC2086 # lists
"$clang" $sanitize -fsanitize=fuzzer $objects $(pkg-config --libs libutf8proc) -o "$out/fuzz_guard"
guard_objects=$objects
objects=
headers=$(ls ext/*.h grading/*.h)
for source in ext/value_*.c ext/child_item.c grading/*.c tests/fuzz/fuzz_value.c; do
    rename=
    [ "$source" != ext/child_item.c ] || rename=-Dcsb_item_next=csb_item_next_child
    # shellcheck disable=SC2086 # a list of flags
    compile "$source" -std=gnu11 -D_GNU_SOURCE= -Wall -Wextra $sanitize -fsanitize=fuzzer-no-link \
        $rename -Iext -Igrading
done
# shellcheck disable=SC2086 # lists
"$clang" $sanitize -fsanitize=fuzzer $objects $(pkg-config --libs libcbor) -o "$out/fuzz_value"
objects=$guard_objects
"$python" tests/fuzz/seeds.py unpack "$out/seeds"
if [ "$seconds" = merge ]; then
    rm -rf "$out/merged"
    mkdir "$out/merged"
    "$out/fuzz_guard" -merge=1 -timeout=10 -rss_limit_mb=2048 "$out/merged" "$out/seeds" "$@"
    exec "$python" tests/fuzz/seeds.py pack "$out/merged"
fi
mkdir -p "$out/values" "$out/value_seeds"
"$python" tests/fuzz/value_seeds.py "$out/value_seeds"
"$out/fuzz_value" -max_total_time="$((seconds / 4 + 1))" -max_len=4096 -timeout=60 -rss_limit_mb=2048 \
    -artifact_prefix="$out/" -print_final_stats=1 "$out/values" "$out/value_seeds"
exec "$out/fuzz_guard" -max_total_time="$((seconds - seconds / 4))" -max_len=8192 -timeout=60 -rss_limit_mb=2048 \
    -dict=tests/fuzz/python.dict -artifact_prefix="$out/" -print_final_stats=1 \
    "$out/corpus" "$out/seeds" "$@"
