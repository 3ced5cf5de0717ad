#!/usr/bin/env bash
# Three daemons on one PostgreSQL server with everything failing around them (postgres_chaos.py);
# one seed, or many with LOCI_TEST_FULL=1. CHAOS_SEED repeats one.
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
for seed in $seeds; do
    if python3 "$here/postgres_chaos.py" "$loci" "$here/../lib/postgres.sh" "$seed" "$seconds"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
