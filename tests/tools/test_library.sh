#!/usr/bin/env bash
# Tests of the test library: what must fail does, and says why.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
build=${BUILD_DIR:?run by ctest, or set BUILD_DIR}
cc=${CC:-cc}
here=$root/tests/tools/fixtures
flags=(-std=c17 -D_GNU_SOURCE -I"$root/include" -I"$root/src" -I"$root/tests" -Wall -Wextra -Werror)
export TMPDIR=$scratch
export GOLDEN=$scratch/golden.txt
echo "as it should be" >"$GOLDEN"

"$cc" "${flags[@]}" "$here/outcomes.c" "$root/tests/lib/main.c" "$build/libloci_testlib.a" \
    "$build/libloci.a" -lpthread -lsqlite3 -lxxhash -lsodium -lpq -lm \
    -o "$scratch/outcomes" || exit 1
run() { "$scratch/outcomes" "$@"; }
# says TEXT COMMAND...: it passes and says so.
says() {
    local text=$1
    shift
    "$@" | grep -qxF -- "$text"
}

passes "what is good" run good
passes "the last line counts" says "6 passed, 0 failed" run good.
passes "a prefix chooses" says "2 passed, 0 failed" run good.he good.files
passes "a list" says "bad.condition" run --list
fails "no such test" "no test has such a name" run nonsense
fails "a condition" "CHECK(1 > 2)" run bad.condition
fails "a failure is counted, the run goes on" "6 passed, 1 failed" run good bad.condition
fails "integers" "left:  41" run bad.integers
fails "both sides" "right: 42" run bad.integers
fails "the seed" "LOCI_TEST_SEED=4711" run bad.integers
fails "the place" "tests/tools/fixtures/outcomes.c:" run bad.integers
fails "text" 'left:  "left\n"' run bad.text
fails "a status" "invalid_argument" run bad.status
fails "its message" "what went wrong" run bad.status
fails "a leak" "1 blocks (24 bytes) left alive" run bad.leak
fails "a wrong size" "old_bytes is not what was asked for" run bad.wrong_size
fails "an overrun" "written past its end" run bad.overrun
fails "a leak when memory is short" "out of memory at request 2" run bad.sweep
fails "a golden file" "+something else" run bad.golden
fails "a check in a thread" "1 failed" run bad.thread
fails "a test that hangs" "took too long" run bad.timeout
fails "a test that hangs is counted" "0 passed, 1 failed" run bad.timeout
fails "a crash has a name" "FAIL bad.crash" run bad.crash

LOCI_TEST_BLESS=1 passes "a blessing" run bad.golden
passes "what was blessed" run bad.golden

"$cc" "${flags[@]}" "$here/fuzz_letter.c" "$root/tests/lib/fuzz_replay.c" \
    "$build/libloci_testlib.a" -o "$scratch/fuzz" || exit 1
mkdir "$scratch/corpus"
passes "a target without a corpus" "$scratch/fuzz" "$scratch/none" 10
printf 'fine' >"$scratch/corpus/a"
passes "a corpus that is fine" "$scratch/fuzz" "$scratch/corpus" 10
printf 'dies!' >"$scratch/corpus/b"
fails "a corpus that is not" "" "$scratch/fuzz" "$scratch/corpus" 0
printf 'fine ' >"$scratch/corpus/b"
fails "a mutation of it" "" "$scratch/fuzz" "$scratch/corpus" 200000

finish
