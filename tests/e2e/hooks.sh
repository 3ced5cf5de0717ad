#!/usr/bin/env bash
# hooks.sh - recorded sessions of Claude Code (tests/e2e/hooks/) through `loci hook`, with and
# without a daemon; trouble of every kind; whose memory it is.
#
# A recording is a transcript, given out piece by piece as the host writes it, and the input of each
# hook. A hook must exit with 0 whatever happens, and print either nothing or what the host expects.
. "$(dirname "$0")/lib.sh"

RECORDED=$(cd "$(dirname "$0")/hooks" && pwd)
export XDG_STATE_HOME="$TMP/state" XDG_RUNTIME_DIR="$TMP/run"
mkdir -m 700 "$TMP/run"
unset LOCI_PROJECT CLAUDE_PROJECT_DIR
LOG=$XDG_STATE_HOME/loci/hook.log

# repository NAME [URL] - a directory that git would know, without git.
repository() {
    mkdir -p "$TMP/$1/.git/objects" "$TMP/$1/.git/refs" "$TMP/$1/src"
    echo 'ref: refs/heads/main' >"$TMP/$1/.git/HEAD"
    printf '[core]\n\tbare = false\n' >"$TMP/$1/.git/config"
    [ $# -lt 2 ] || printf '[remote "origin"]\n\turl = %s\n' "$2" >>"$TMP/$1/.git/config"
}

# input EVENT [MEMBER VALUE]… - the JSON that the host writes to a hook.
input() {
    python3 -c '
import json, sys
names, rest = sys.argv[1], sys.argv[2:]
given = {"session_id": "11111111-aaaa", "transcript_path": sys.argv[2], "cwd": sys.argv[3],
         "permission_mode": "default", "hook_event_name": names}
for name, value in zip(rest[2::2], rest[3::2]):
    given[name] = value
print(json.dumps(given))' "$1" "$TMP/transcript.jsonl" "$TMP/app/src" "${@:2}"
}

# hook EVENT [MEMBER VALUE]… - runs it as the host does; sets OUT and checks what always holds.
hook() {
    feed "$(input "$@")" hook "$HOOK_EVENT"
    is "$HOOK_EVENT exits with 0" 0 "$RC"
    is "$HOOK_EVENT writes nothing to stderr" "" "$ERR"
}

# said - the texts of all messages of the session, one per line.
said() {
    "$LOCI" call session.messages "{\"session_id\":\"$1\",\"persona_id\":\"$2\",\"limit\":1000}" |
        python3 -c 'import json,sys
for message in json.load(sys.stdin)["messages"]:
    print(message["role"] + ": " + message["text"].replace("\n", "|"))'
}

# context OUT - the additional context in it, or nothing.
context() {
    [ -n "$1" ] || return 0
    printf '%s' "$1" | python3 -c 'import json,sys
print(json.load(sys.stdin)["hookSpecificOutput"]["additionalContext"])'
}

logged() { if [ -e "$LOG" ]; then wc -l <"$LOG"; else echo 0; fi; }

# ---- One session from its start to its end -------------------------------------------------------

# play NAME - the recorded session against the store $LOCI_STORE; every message is stored once.
play() {
    local persona=project:github.com/acme/app prompts count
    : >"$TMP/transcript.jsonl"

    HOOK_EVENT=session-start hook SessionStart source startup model claude-opus-4-5
    has "$1: a brief is JSON for the host" '{"hookSpecificOutput":{"hookEventName":"SessionStart"' \
        "$OUT"
    has "$1: the brief has the facts" "database: PostgreSQL 16" "$(context "$OUT")"
    has "$1: the brief is marked" "<loci-memory>" "$(context "$OUT")"

    # Prompt by prompt: the hook runs before the host writes the turn.
    prompts=$(sed -n 's/^.*"prompt": *"\(.*\)"}$/\1/p' "$RECORDED/prompts.jsonl")
    count=0
    while IFS= read -r prompt; do
        count=$((count + 1))
        HOOK_EVENT=user-prompt hook UserPromptSubmit prompt "$prompt"
        case $count in
        1)
            has "$1: JSON for the host" '"hookEventName":"UserPromptSubmit","additionalC' "$OUT"
            has "$1: a prompt about the database" "PostgreSQL 16" "$(context "$OUT")"
            ;;
        2) is "$1: a prompt about nothing that is known" "" "$OUT" ;;
        5) lacks "$1: what this session said is not repeated" "24 hours" "$OUT" ;;
        6) is "$1: thanks bring nothing" "" "$OUT" ;;
        esac
        cat "$RECORDED/turn_$count.jsonl" >>"$TMP/transcript.jsonl"
        HOOK_EVENT=Stop hook Stop
        is "$1: a hook that stores prints nothing" "" "$OUT"
        if [ "$count" = 3 ]; then
            HOOK_EVENT=pre-compact hook PreCompact trigger auto
            cat "$RECORDED/compaction.jsonl" >>"$TMP/transcript.jsonl"
            HOOK_EVENT=session-start hook SessionStart source compact
        fi
    done <<<"$prompts"
    is "$1: six prompts were played" 6 "$count"
    HOOK_EVENT=session-end hook SessionEnd reason prompt_input_exit

    is "$1: each message is there once" "$(sort "$RECORDED/expected.txt")" \
        "$(said_all "$persona" | sort)"
    # Resumed: the host starts again with the same transcript and goes on.
    HOOK_EVENT=session-start hook SessionStart source resume
    cat "$RECORDED/resumed.jsonl" >>"$TMP/transcript.jsonl"
    HOOK_EVENT=stop hook Stop
    # A position that is lost means reading again, not storing again.
    rm -rf "$XDG_STATE_HOME/loci/hooks"
    HOOK_EVENT=session-end hook SessionEnd reason other
    is "$1: resumed, each message is there once" \
        "$(cat "$RECORDED/expected.txt" "$RECORDED/expected_resumed.txt" | sort)" \
        "$(said_all "$persona" | sort)"

    # Another session finds the messages afterwards.
    run call session.search \
        "{\"query\":\"idempotency keys for payments\",\"persona_id\":\"$persona\"}"
    has "$1: session.search finds it" "idempotency keys" "$OUT"
    HOOK_EVENT=user-prompt hook UserPromptSubmit session_id other \
        prompt "How do we avoid charging a payment twice? Idempotency keys?"
    has "$1: a later session is told" "idempotency keys" "$(context "$OUT")"
    is "$1: nothing was logged" 0 "$(logged)"
}

# All messages of the persona, whatever session they are in.
said_all() {
    for session in $("$LOCI" call session.list "{\"persona_id\":\"$1\"}" |
        python3 -c 'import json,sys
for session in json.load(sys.stdin)["sessions"]: print(session["id"])'); do
        said "$session" "$1"
    done
}

new_store() {
    export LOCI_STORE="$TMP/$1.db"
    run init
    run call fact.write '{"key":"database","value":"PostgreSQL 16"}'
    run call memory.store '{"text":"Deploys on Fridays are forbidden"}'
    is "$1: the store is filled" 0 "$RC"
}

repository app git@github.com:acme/app.git

new_store direct
play "without a daemon"
run call event.list '{"limit":1000}'
has "events name the program" '"client":{"name":"claude-code","version":"2.1.4"' "$OUT"
has "events name the model" '"model":"claude-opus-4-5"' "$OUT"
lacks "what was injected is not stored" "loci-memory" "$OUT"
lacks "what was thought is not stored" "thinking about" "$OUT"
lacks "what a sub-agent was told is not stored" "sub-agent" "$OUT"
lacks "a summary of a compaction is not stored" "being continued" "$OUT"
lacks "a secret is not stored" "AKIAIOSFODNN7EXAMPLE" "$OUT"
run call model.status
is "a transcript leaves no vectors to the next prompt" yes \
    "$([ "$(value "$OUT" vectors)" -gt 0 ] && echo yes)"
run verify
is "the store is whole" 0 "$RC"

rm -rf "$XDG_STATE_HOME"
new_store served
start_quietly() {
    "$LOCI" serve --listen 127.0.0.1:0 --json >"$TMP/serve.out" 2>"$TMP/serve.err" &
    DAEMON=$!
    wait_for 20 test -s "$TMP/serve.out"
}
start_quietly
SOCKET=$(value "$(cat "$TMP/serve.out")" socket)
play "with a daemon"
# The daemon did the work, not the hooks.
has "the daemon was used" '"route":"/v1/batch"' "$(cat "$TMP/serve.err")"
OUT=$(curl -s --unix-socket "$SOCKET" -H 'Loci-Client: curl-test/8; model=none' \
    -d '{"key":"by","value":1}' http://localhost/v1/facts)
OUT=$(curl -s --unix-socket "$SOCKET" http://localhost/v1/facts/history/by)
is "the header Loci-Client is recorded" curl-test "$(value "$OUT" facts.0.client.name)"
OUT=$(curl -s --unix-socket "$SOCKET" -H 'Loci-Client: {"name":7}' -d '{"text":"x"}' \
    http://localhost/v1/todos)
is "a broken header is refused" invalid_argument "$(value "$OUT" code)"
OUT=$(curl -s --unix-socket "$SOCKET" -H 'Loci-Client: curl-test/9' \
    -d '{"calls":[{"op":"todo.add","args":{"text":"x"}}]}' http://localhost/v1/batch)
OUT=$(curl -s --unix-socket "$SOCKET" 'http://localhost/v1/events?limit=1000')
has "a batch has the client of its request" '"client":{"name":"curl-test","version":"9"}' "$OUT"
kill "$DAEMON"
wait "$DAEMON"

# within NAME MAXIMUM ACTUAL
within() {
    if [ "$3" -lt "$2" ]; then pass; else fail "$1" "maximum: $2" "actual:  $3"; fi
}

# ---- Trouble -------------------------------------------------------------------------------------

# quiet NAME - the last hook printed nothing, exited with 0 and wrote one more line to the log.
quiet() {
    is "$1: exit code" 0 "$RC"
    is "$1: stdout" "" "$OUT"
    is "$1: one line in the log" $((LINES_BEFORE + 1)) "$(logged)"
    json "$1: the log is JSON" "$(tail -1 "$LOG")"
    LINES_BEFORE=$(logged)
}

rm -rf "$XDG_STATE_HOME"
LINES_BEFORE=0
export LOCI_STORE="$TMP/none/none.db"
feed "$(input UserPromptSubmit prompt 'Which database?')" hook user-prompt
quiet "no store"
is "no store is created" "" "$(ls "$TMP/none" 2>/dev/null)"
export LOCI_STORE="$TMP/direct.db"
for broken in '' '{' '[]' '"x"' '{"prompt":' $'\xff\xfe' '{"a":1}{"b":2}'; do
    feed "$broken" hook user-prompt
    quiet "input $broken"
done
feed '{}' hook user-prompt
is "no prompt is no trouble" "0 $LINES_BEFORE" "$RC $(logged)"
feed '{"prompt":7}' hook user-prompt
is "a prompt of another kind is no trouble" "0 $LINES_BEFORE" "$RC $(logged)"
feed "$(input Whatever)" hook what-is-this
quiet "an unknown event"
feed "$(input Whatever)" hook
quiet "an unknown event in the input"
feed '{}' hook stop
quiet "no transcript is named"
rm -f "$TMP/transcript.jsonl"
feed "$(input Stop)" hook stop
quiet "the transcript is missing"
mkfifo "$TMP/transcript.jsonl"
feed "$(input Stop)" hook stop
quiet "the transcript is a pipe"
rm "$TMP/transcript.jsonl"
mkdir "$TMP/transcript.jsonl"
feed "$(input SessionEnd)" hook session-end
quiet "the transcript is a directory"
rmdir "$TMP/transcript.jsonl"
feed "$(input Stop)" hook stop --no-such-option
is "wrong usage does not fail the host" "0 " "$RC $OUT"
has "wrong usage is explained" "no-such-option" "$ERR"
echo 'not a database, not at all, whatever it is called' >"$TMP/damaged.db"
feed "$(input UserPromptSubmit prompt 'Which database?')" hook user-prompt --store "$TMP/damaged.db"
quiet "a damaged store"
printf '%s' "$(input UserPromptSubmit prompt 'Which database?')" |
    "$LOCI" hook user-prompt >/dev/full 2>"$TMP/err"
is "a host that cannot be written to" 0 "$?"

# Broken lines among good ones; the last is still being written.
{
    echo '{"type":"user","uuid":"b1","message":{"content":"First of the broken file."}}'
    echo 'garbage'
    printf '{"type":"user","uuid":"b2","message":{"content":"\xff"}}\n'
    echo '{"type":"user","uuid":"b3","message":{"content":"a\u0000b zero byte"}}'
    head -c 9000000 /dev/zero | tr '\0' 'x'
    echo
    printf '{"type":"user","uuid":"b4","message":{"content":"Last of '
} >"$TMP/transcript.jsonl"
feed "$(input Stop session_id broken)" hook stop
is "a broken transcript: exit code" "0 " "$RC $OUT"
printf 'the broken file."}}\n' >>"$TMP/transcript.jsonl"
feed "$(input Stop session_id broken)" hook stop
is "a broken transcript: the good lines" \
    $'user: First of the broken file.\nuser: a b zero byte\nuser: Last of the broken file.' \
    "$(said broken project:github.com/acme/app)"

# secrets.policy=refuse: the message with a secret is left out, all others are stored.
python3 -c '
import json
for i in range(5):
    text = "Message number %d of the refused batch." % i
    if i == 2: text += " The key is AKIAIOSFODNN7EXAMPLE."
    print(json.dumps({"type": "user", "uuid": "r%d" % i, "message": {"content": text}}))
' >"$TMP/transcript.jsonl"
LINES_BEFORE=$(logged)
LOCI_SECRETS_POLICY=refuse feed "$(input Stop session_id refused)" hook stop
is "a refused message is logged" "0 $((LINES_BEFORE + 1))" "$RC $(logged)"
is "all but the refused message are stored" 4 \
    "$(said refused project:github.com/acme/app | grep -c 'refused batch')"
lacks "the log has no secret" AKIAIOSFODNN7EXAMPLE "$(cat "$LOG")"
LINES_BEFORE=$(logged)

# A store that another process has locked, and a time limit.
"$PYTHON" -S -E - "$TMP/direct.db" "$TMP/locked" <<'PY' &
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("begin exclusive")
open(sys.argv[2], "w").close()
time.sleep(30)
PY
HOLDER=$!
wait_for 20 test -e "$TMP/locked"
echo '{"type":"user","uuid":"l1","message":{"content":"Said while the store was locked."}}' \
    >"$TMP/transcript.jsonl"
started=$(date +%s%N)
feed "$(input Stop session_id locked)" hook stop --timeout-ms 700
took=$((($(date +%s%N) - started) / 1000000))
quiet "a locked store"
within "a locked store: the time limit" 5000 "$took"
kill "$HOLDER"
wait "$HOLDER" 2>/dev/null
feed "$(input Stop session_id locked)" hook stop
is "what was said while it was locked is stored later" \
    "user: Said while the store was locked." "$(said locked project:github.com/acme/app)"

# An input that never ends.
LINES_BEFORE=$(logged)
started=$(date +%s%N)
mkfifo "$TMP/endless"
sleep 20 >"$TMP/endless" &
SLEEPER=$!
OUT=$(LOCI_HOOK_TIMEOUT_MS=300 "$LOCI" hook user-prompt <"$TMP/endless"; echo "rc $?")
kill "$SLEEPER"
took=$((($(date +%s%N) - started) / 1000000))
has "a host that never closes stdin" "rc 0" "$OUT"
is "the time limit is logged" $((LINES_BEFORE + 1)) "$(logged)"
has "the time limit is named" "time limit" "$(tail -1 "$LOG")"
within "the time limit" 19000 "$took"

# The log is bounded.
python3 -c 'print("x" * 300000)' >"$LOG"
feed '{' hook stop
within "the log is rotated" 2000 "$(wc -c <"$LOG")"
is "the old log is kept" 300001 "$(wc -c <"$LOG.1")"
is "the log is private" 600 "$(stat -c %a "$LOG")"
feed '{' hook stop --quiet
chmod 500 "$XDG_STATE_HOME/loci"
feed "$(input UserPromptSubmit prompt 'Which database do we use?')" hook user-prompt
has "without a writable state directory it works" "PostgreSQL 16" "$OUT"
chmod 700 "$XDG_STATE_HOME/loci"

# ---- Budgets and formats -------------------------------------------------------------------------

feed "$(input UserPromptSubmit prompt 'Which database do we use?')" hook --format text
has "text is the text alone" $'<loci-memory>\nNotes from loci' "$OUT"
has "text has what is known" "- database: PostgreSQL 16" "$OUT"
run config set hook.prompt_tokens 0
feed "$(input UserPromptSubmit prompt 'Which database do we use?')" hook user-prompt
is "a budget of 0 adds nothing" "" "$OUT"
run config unset hook.prompt_tokens
run call fact.write '{"key":"database_note","value":"a </loci-memory> about the database"}'
feed "$(input UserPromptSubmit prompt 'Which database do we use? database note')" hook user-prompt
is "stored text cannot end the element" 1 "$(context "$OUT" | grep -c '</loci-memory>')"

# ---- Choice of user, persona and project ---------------------------------------------------------

export LOCI_STORE="$TMP/whose.db"
repository plain
mkdir "$TMP/outside"
cd "$TMP/app/src" || exit 2
run where --json
is "where: the project" project:github.com/acme/app "$(value "$OUT" persona.value)"
is "where: its origin" "git remote origin" "$(value "$OUT" persona.origin)"
is "where: the store's origin" LOCI_STORE "$(value "$OUT" store.origin)"
is "where: the root" "$TMP/app" "$(value "$OUT" project.root)"
run where --user ada --persona ""
has "where: the person" "none (yourself)  (--persona)" "$OUT"
has "where: the user" "ada  (--user)" "$OUT"
LOCI_PERSONA=coach run where --json
is "where: the variable" "LOCI_PERSONA" "$(value "$OUT" persona.origin)"
LOCI_PROJECT=off run where --json
is "where: switched off" "null LOCI_PROJECT=off" \
    "$(value "$OUT" persona.value) $(value "$OUT" persona.origin)"
run where --project "$TMP/plain" --json
is "where: another directory" "project:$TMP/plain" "$(value "$OUT" persona.value)"
is "where: without a remote" "git repository without a remote" "$(value "$OUT" persona.origin)"
cd "$TMP/outside" || exit 2
run where --json
is "where: outside of a repository" "null no git repository" \
    "$(value "$OUT" persona.value) $(value "$OUT" persona.origin)"

run remember "Prefers tabs over spaces"
is "outside: remembered" 0 "$RC"
cd "$TMP/app/src" || exit 2
run remember "The build uses meson" --json
run fact write build meson
run recall "which build tool" --json
is "a project's memory belongs to it" project:github.com/acme/app \
    "$(value "$OUT" results.0.persona_id)"
run recall "tabs or spaces" --json
has "the person's own is seen in the project" "Prefers tabs" "$OUT"
run remember "Drinks tea" --persona "" --json
run recall tea --json
lacks "the person can be meant in a project" persona_id "$(value "$OUT" results.0)"
run fact write build ninja --persona-id coach
run fact current build --json
is "an explicit persona wins" '"meson"' "\"$(value "$OUT" value)\""
run call fact.current '{"key":"build"}'
is "call does not know projects" 1 "$RC"
OUT=$(echo '{"op":"fact.current","args":{"key":"build"}}' | "$LOCI" batch)
has "batch does not know projects" not_found "$OUT"
run call fact.current '{"key":"build"}' --persona project:github.com/acme/app
is "call takes a persona that is given" meson "$(value "$OUT" value)"
cd "$TMP/outside" || exit 2
run recall meson --json
lacks "a project's memory is not seen elsewhere" meson "$OUT"
run fact write city Oslo
run fact history city --json
is "the command line names itself" loci-cli "$(value "$OUT" facts.0.client.name)"
LOCI_CLIENT='my-agent/3; model=small' run fact write city Bergen
run fact history city --json
is "LOCI_CLIENT names another program" small "$(value "$OUT" facts.1.client.model)"
OUT=$(echo '{"op":"fact.write","args":{"key":"b","value":1}}' | "$LOCI" batch --atomic)
run fact history b --json
is "batch names itself" loci-cli "$(value "$OUT" facts.0.client.name)"
finish
