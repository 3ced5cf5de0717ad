#!/usr/bin/env bash
# `loci chat-log`: transcripts of five formats become sessions, each message once; a broken file
# stores nothing; the same over HTTP.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"

cp -r "$(dirname "$0")/chat_log" "$TMP/in"
cd "$TMP/in" || exit 1
# write_lines COUNT SESSION WORD
write_lines() {
    for ((i = 0; i < $1; i++)); do
        printf '{"role":"user","text":"%s %d","session":"%s"}\n' "$3" "$i" "$2"
    done
}

export LOCI_STORE="$TMP/a.db"

run chat-log lines.jsonl talk.md chatgpt.json claude.json code.jsonl
is "five files are imported" 0 "$RC"
has "lines" "lines.jsonl (jsonl): 2 sessions, 3 messages imported, 0 known already" "$OUT"
has "Markdown" "talk.md (markdown): 1 sessions, 2 messages imported" "$OUT"
has "ChatGPT" "chatgpt.json (chatgpt): 1 sessions, 2 messages imported" "$OUT"
has "Claude" "claude.json (claude): 1 sessions, 2 messages imported" "$OUT"
has "Claude Code" "code.jsonl (claude-code): 1 sessions, 2 messages imported" "$OUT"
run session list --json
for name in trip wine talk.md gpt-1 claude-1 code-1; do
    has "there is the session $name" "\"external_id\":\"$name\"" "$OUT"
done
run session messages --session-id trip --json
is "the text" "I plan a trip to Lisbon." "$(value "$OUT" messages.0.text)"
is "the time" "2024-03-01T10:00:00Z" "$(value "$OUT" messages.0.at)"
is "the speaker" "Ada" "$(value "$OUT" messages.0.speaker)"
run session messages --session-id gpt-1 --json
is "the answer that is current" "They are content." "$(value "$OUT" messages.1.text)"
lacks "not the one before" "first try" "$OUT"

# The same again adds nothing; a file that has grown adds the rest.
run chat-log --json lines.jsonl talk.md chatgpt.json claude.json code.jsonl
is "again" 0 "$RC"
for i in 0 1 2 3 4; do is "file $i adds nothing" 0 "$(value "$OUT" "$i.appended")"; done
is "its messages are known" 3 "$(value "$OUT" 0.repeated)"
printf '\n## User\n\nThank you.\n' >>talk.md
run chat-log --json talk.md
is "one message is new" 1 "$(value "$OUT" 0.appended)"
run session messages --session-id talk.md --json
is "it is the last" "Thank you." "$(value "$OUT" messages.2.text)"
# Another file with the same name is not taken for the first one.
mkdir other
printf '## User\n\nWho wrote Faust?\n' >other/talk.md
run chat-log --json other/talk.md
is "nothing is lost" 1 "$(value "$OUT" 0.appended)"

# Broken files: where, and nothing of them; the others are imported.
write_lines 250 long Message >long.jsonl
{ sed 's/"long"/"bad"/' long.jsonl; echo '{"role":"boss","text":"x"}'; } >bad.jsonl
head -c 400 chatgpt.json >cut.json
echo 'Dear diary' >diary.txt
printf '%s\n' '{"role":"user","text":"hi"}' '{"role":"us' >half.jsonl
run chat-log half.jsonl
has "one place is named, not two" 'half.jsonl: line 2: column 12: the text ends too early' "$ERR"
run chat-log bad.jsonl cut.json diary.txt none.md long.jsonl
is "broken files fail" 1 "$RC"
has "the line is named" 'bad.jsonl: line 251: unknown role "boss"' "$ERR"
has "the conversation is named" "cut.json: conversation 1: the file ends within it" "$ERR"
has "the formats are named" "diary.txt: the format is unknown; known are JSON lines" "$ERR"
has "a missing file is named" "none.md" "$ERR"
has "the good one is imported" "long.jsonl (jsonl): 1 sessions, 250 messages imported" "$OUT"
run session list --external-id bad --json
is "nothing of the broken one" "[]" "$(value "$OUT" sessions)"
run chat-log
is "a file is needed" 2 "$RC"

# Progress is drawn on a terminal.
write_lines 3000 big Note >big.jsonl
on_terminal "" chat-log big.jsonl
is "on a terminal" 0 "$RC"
has "progress" "/3000 messages" "$OUT"
run verify
is "the store is sound" 0 "$RC"

# Over HTTP, into a store of its own.
unset LOCI_STORE
start --store "$TMP/b.db"
run chat-log --json claude.json long.jsonl --url "$URL" --token-file "$TMP/token"
is "a daemon takes them" 0 "$RC"
is "all of them" 250 "$(value "$OUT" 1.appended)"
run chat-log --json long.jsonl --url "$URL" --token-file "$TMP/token"
is "once" 250 "$(value "$OUT" 0.repeated)"
stop
is "the daemon ends" 0 "$RC"
finish
