#!/bin/bash
# examples/guard.c in a process that may use 256 MB: with the guard it survives a storm of
# allocations, every time; without it, it runs out of memory. The control run shows that the storm
# is one. Where control groups can be made, the same in one, whose kernel kills instead of refusing.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)

${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror "$root/examples/guard.c" \
    -I"$root/include" -L"$BUILD_DIR" -lloci -pthread -Wl,-rpath,"$BUILD_DIR" \
    -o "$TMP/guard" >"$TMP/build.log" 2>&1
is "the example is built" "0 " "$? $(cat "$TMP/build.log")"
for run in 1 2 3; do
    "$TMP/guard" >"$TMP/out" 2>"$TMP/err"
    is "run $run with the guard: exit code" "0 " "$? $(cat "$TMP/err")"
    has "run $run survived" "survived:" "$(head -1 "$TMP/out")"
    is "run $run: the cache was evicted" yes \
        "$([ "$(value "$(tail -1 "$TMP/out")" caches.0.evictions)" -gt 0 ] && echo yes)"
done
"$TMP/guard" --off >"$TMP/out" 2>"$TMP/err"
is "without the guard: exit code" 3 "$?"
has "without the guard" "out of memory" "$(cat "$TMP/err")"

# make_group: sets GROUP to a new control group of 256 MB without swap, of version 1 or 2.
make_group() {
    local root file
    for root in /sys/fs/cgroup/memory /sys/fs/cgroup; do
        GROUP=$root/loci-test-$$
        mkdir "$GROUP" 2>/dev/null || continue
        for file in memory.limit_in_bytes memory.memsw.limit_in_bytes memory.max; do
            [ ! -e "$GROUP/$file" ] || echo 268435456 >"$GROUP/$file"
        done 2>/dev/null
        [ ! -e "$GROUP/memory.swap.max" ] || echo 0 >"$GROUP/memory.swap.max"
        grep -qs 268435456 "$GROUP/memory.limit_in_bytes" "$GROUP/memory.max" && return
        rmdir "$GROUP"
    done
    return 1
}

in_group() { (echo "$BASHPID" >"$GROUP/cgroup.procs" && exec "$@"); }

if make_group; then
    for run in 1 2 3; do
        in_group "$TMP/guard" --cgroup >"$TMP/out" 2>"$TMP/err"
        is "run $run in a control group: exit code" "0 " "$? $(cat "$TMP/err")"
        has "run $run: it is the limit" '"limit_from":"cgroup"' "$(tail -1 "$TMP/out")"
    done
    in_group "$TMP/guard" --cgroup --off >"$TMP/out" 2>/dev/null
    is "without the guard it is killed" 137 "$?"
    rmdir "$GROUP"
fi
finish
