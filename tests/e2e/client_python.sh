#!/bin/bash
# The client for Python as a program gets it: a wheel, installed in a clean directory; every
# operation, pages, faults, threads, asyncio, and a stream across a restart.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"
# shellcheck source=tests/e2e/client_lib.sh
. "$(dirname "$0")/client_lib.sh"
source=$CLIENT_TESTS/../../clients/python

# ---- The wheel
wheel=$(python3 "$source/build_wheel.py" "$TMP/wheel")
is "the wheel is built" 0 "$?"
python3 "$source/build_wheel.py" "$TMP/again" >"$TMP/again.out"
is "its bytes depend on nothing else" "$(sha256sum <"$wheel")" \
    "$(sha256sum <"$(cat "$TMP/again.out")")"
files=$(python3 -m zipfile -l "$wheel")
has "it is typed" loci_client/py.typed "$files"
# Without pip, which Debian's Python has not: a wheel of plain modules is its own content.
python3 -m venv --without-pip "$TMP/venv"
site=$(echo "$TMP"/venv/lib/python3.*/site-packages)
python3 -m zipfile -e "$wheel" "$site"
python=$TMP/venv/bin/python3
cd "$TMP" || exit 2
is "its version is that of its package" \
    "$(sed -n 's/^version = "\(.*\)"/\1/p' "$source/pyproject.toml")" \
    "$("$python" -c 'import loci_client; print(loci_client.__version__)' 2>&1)"
is "the package is found" "loci-client >=3.9" "$("$python" -c 'import importlib.metadata as m
print(m.metadata("loci-client")["Name"], m.metadata("loci-client")["Requires-Python"])' 2>&1)"
is "every file is as recorded" "" "$("$python" -c 'import base64, hashlib, importlib.metadata as m
for file in m.files("loci-client"):
    data = file.locate().read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    if file.hash and file.hash.value != digest: print(file)' 2>&1)"

# ---- With a daemon
client_daemon
client_test "$python" -B "$CLIENT_TESTS/calls.py"
page_file agent.py >"$TMP/program"
mv "$TMP/program" agent.py
is "the program of the manual" "$(page_file agent.out)" \
    "$(LOCI_URL=$URL LOCI_TOKEN=$TOKEN timeout 60 "$python" agent.py 2>&1)"
client_restarts "$python" -B "$CLIENT_TESTS/stream.py"
stop
is "the daemon ends" 0 "$RC"
finish
