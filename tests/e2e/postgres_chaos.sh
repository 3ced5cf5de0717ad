#!/usr/bin/env bash
# Three daemons on one PostgreSQL server with everything failing around them (postgres_chaos.py);
# one seed, or many with LOCI_TEST_FULL=1, and then one with 300 connections, two thirds of them
# streams, and a replica that is often behind. CHAOS_SEED repeats one, CHAOS_CONNECTIONS sets how
# many connections the last run has.
set -u
here=$(cd "$(dirname "$0")" && pwd)
loci=${LOCI:-$here/../../build/dev/loci}
seeds=${CHAOS_SEED:-1}
seconds=12
if [ "${LOCI_TEST_FULL:-0}" = 1 ]; then
    seeds=${CHAOS_SEED:-$(seq 1 10)}
    seconds=30
fi
for name in $(compgen -v LOCI_); do unset "$name"; done
passed=0
failed=0
run() { # SEED [CONNECTIONS]
    if python3 "$here/postgres_chaos.py" "$loci" "$here/../lib/postgres.sh" "$1" "$seconds" \
        ${2:+"$2"}; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
}
if [ -z "${CHAOS_CONNECTIONS:-}" ]; then
    for seed in $seeds; do run "$seed"; done
fi
connections=${CHAOS_CONNECTIONS:-}
[ "${LOCI_TEST_FULL:-0}" != 1 ] || connections=${connections:-300}
[ -z "$connections" ] || run "${CHAOS_SEED:-1}" "$connections"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
