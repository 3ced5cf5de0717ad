# shellcheck shell=bash disable=SC2034 # OUT and ERR are for those who include this.
# lib.sh - what the tests of the program share: a clean place to run in, and a few checks.
#
#     . "$(dirname "$0")/lib.sh"
#     run fact write city Oslo --store "$TMP/a.db"     # sets OUT, ERR and RC
#     is "a write succeeds" 0 "$RC"
#     finish
#
# LOCI names the program. Run by itself this file tests its own checks.
set -u

LOCI=${LOCI:-$(dirname "${BASH_SOURCE[0]}")/../../build/dev/loci}
LOCI=$(cd "$(dirname "$LOCI")" 2>/dev/null && pwd)/$(basename "$LOCI")
[ -x "$LOCI" ] || { echo "no program at $LOCI: set LOCI" >&2; exit 2; }
TMP=$(mktemp -d)
passed=0
failed=0

# Nothing of the caller's environment may be seen: not a store, not a setting, not a colour.
for name in $(compgen -v LOCI_); do unset "$name"; done
unset XDG_DATA_HOME NO_COLOR
export HOME="$TMP/home" LC_ALL=C.UTF-8 TERM=xterm
# Nor the git repository that the tests are in.
export LOCI_PROJECT=off
mkdir -p "$HOME"
chmod 755 "$TMP"

# The system's own Python, bare: what some machines put before it takes five times as long to start,
# and a test starts it hundreds of times.
PYTHON=/usr/bin/python3
[ -x "$PYTHON" ] || PYTHON=$(command -v python3)
python3() { "$PYTHON" -S -E "$@"; }

clean_up() {
    jobs -p | while read -r pid; do kill "$pid" 2>/dev/null; done
    chmod -R u+rwx "$TMP" 2>/dev/null
    rm -rf "$TMP"
}
trap clean_up EXIT

# run ARGUMENT… - the program with an empty standard input.
run() {
    "$LOCI" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
    RC=$?
    OUT=$(cat "$TMP/out")
    ERR=$(cat "$TMP/err")
}

# feed TEXT ARGUMENT… - the same with TEXT on standard input.
feed() {
    local text=$1
    shift
    printf '%s' "$text" | "$LOCI" "$@" >"$TMP/out" 2>"$TMP/err"
    RC=$?
    OUT=$(cat "$TMP/out")
    ERR=$(cat "$TMP/err")
}

# as_seen COLUMNS ARGUMENT… - what the program prints on a terminal of that width.
as_seen() {
    local columns=$1 words
    shift
    printf -v words '%q ' "$LOCI" "$@"
    script -qec "stty cols $columns; $words" /dev/null </dev/null | tr -d '\r'
}

# on_terminal INPUT ARGUMENT… - the program with a terminal as stdin, stdout and stderr; INPUT
# answers its first question. Sets OUT and RC.
on_terminal() {
    local input=$1
    shift
    OUT=$("$PYTHON" - "$input" "$LOCI" "$@" <<'PY'
import os, pty, select, sys, time

pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
text, sent, end = b"", False, time.time() + 30
while time.time() < end:
    if not sent and (b"[y/N]" in text or sys.argv[1] == ""):
        os.write(fd, sys.argv[1].encode())
        sent = True
    if not select.select([fd], [], [], 0.1)[0]:
        continue
    try:
        part = os.read(fd, 65536)
    except OSError:
        break
    if not part:
        break
    text += part
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.stdout.write(text.decode(errors="replace").replace("\r", ""))
sys.exit(code)
PY
    )
    RC=$?
}

pass() { passed=$((passed + 1)); }

fail() {
    failed=$((failed + 1))
    printf 'FAIL %s\n' "$1" >&2
    shift
    printf '     %s\n' "$@" >&2
}

# is NAME EXPECTED ACTUAL
is() {
    if [ "$2" = "$3" ]; then pass; else fail "$1" "expected: $2" "actual:   $3"; fi
}

# isnt NAME UNEXPECTED ACTUAL
isnt() {
    if [ "$2" != "$3" ]; then pass; else fail "$1" "both: $2"; fi
}

# has NAME PART TEXT - TEXT contains PART, literally.
has() {
    case $3 in
    *"$2"*) pass ;;
    *) fail "$1" "wanted: $2" "in:     ${3:0:600}" ;;
    esac
}

# lacks NAME PART TEXT
lacks() {
    case $3 in
    *"$2"*) fail "$1" "unwanted: $2" "in:       ${3:0:600}" ;;
    *) pass ;;
    esac
}

# json NAME TEXT - every line of TEXT, and at least one, is a JSON value.
json() {
    local why
    if why=$(printf '%s\n' "$2" | python3 -c '
import json, sys
lines = [line for line in sys.stdin.read().split("\n") if line]
assert lines, "nothing"
for line in lines:
    json.loads(line)' 2>&1); then
        pass
    else
        fail "$1" "not JSON: ${2:0:300}" "${why##*$'\n'}"
    fi
}

# value TEXT PATH - one member of a JSON text, such as error.code or ok.facts.0.id; text stays bare.
value() {
    printf '%s' "$1" | python3 -c '
import json, sys
at = json.load(sys.stdin)
for part in sys.argv[1].split("."):
    at = at[int(part)] if isinstance(at, list) else at[part]
print(at if isinstance(at, str) else json.dumps(at, separators=(",", ":")))' "$2" 2>&1 | tail -1
}

# line TEXT N - the Nth line, from 1.
line() { printf '%s\n' "$1" | sed -n "$2p"; }

# flat TEXT - on one line, as before a terminal wrapped it at words.
flat() { printf '%s' "$1" | tr -s '[:space:]' ' '; }

# wait_for SECONDS COMMAND… - until it succeeds; false when it never did.
wait_for() {
    local tries=$(($1 * 20))
    shift
    while [ "$tries" -gt 0 ]; do
        "$@" && return 0
        sleep 0.05
        tries=$((tries - 1))
    done
    return 1
}

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
    exit
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    # Checks that cannot fail would prove nothing: each is made to.
    refuses() {
        local before=$failed
        "$@" 2>/dev/null
        if [ "$failed" = $((before + 1)) ]; then
            failed=$before
            pass
        else
            fail "does not refuse: $*"
        fi
    }
    is "equal" a a
    refuses is "unequal" a b
    isnt "unequal" a b
    refuses isnt "equal" a a
    has "part" b abc
    refuses has "no part" x abc
    lacks "no part" x abc
    refuses lacks "part" b abc
    json "lines" $'{}\n[1]'
    refuses json "no JSON" '{'
    refuses json "nothing" ''
    is "value" 7 "$(value '{"a":[{"b":7}]}' a.0.b)"
    run --version
    is "the program runs" 0 "$RC"
    finish
fi
