#!/usr/bin/env bash
# Two daemons on a PostgreSQL server that stalls, is half-open, restarts and crashes
# (postgres_trouble.py).
set -u
here=$(cd "$(dirname "$0")" && pwd)
loci=${LOCI:-$here/../../build/dev/loci}
for name in $(compgen -v LOCI_); do unset "$name"; done
python3 "$here/postgres_trouble.py" "$loci" "$here/../lib/postgres.sh"
