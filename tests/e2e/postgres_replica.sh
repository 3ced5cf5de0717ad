#!/usr/bin/env bash
# Daemons that read on a streaming replica (postgres_replica.py).
set -u
here=$(cd "$(dirname "$0")" && pwd)
loci=${LOCI:-$here/../../build/dev/loci}
for name in $(compgen -v LOCI_); do unset "$name"; done
exec python3 "$here/postgres_replica.py" "$loci" "$here/../lib/postgres.sh"
