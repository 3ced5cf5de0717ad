#!/bin/bash
# Files on the command line and over HTTP: the tool loop of docs/memory-files.md, routes, texts.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/serve_lib.sh"
export LOCI_STORE=$TMP/a.db

run file create /memories/notes.md --file-text $'alpha\nbeta\n'
is "create" 0 "$RC"
is "prints the text alone" "File created successfully at: /memories/notes.md" "$OUT"
run file view /memories/notes.md
is "view prints the text, tabs included" "$(printf '%s\n     1\talpha\n     2\tbeta\n     3\t' \
    "Here's the content of /memories/notes.md with line numbers:")" "$OUT"
run file view /memories/notes.md --view-range '[2,2]'
is "a range" "$(printf '     2\tbeta')" "$(tail -n +2 <<<"$OUT")"
run file get /memories/notes.md
is "get prints the content alone" $'alpha\nbeta' "$OUT"
run file create /memories/esc.md --file-text $'a\e[31mred'
run file view /memories/esc.md
lacks "text of a file cannot control the terminal" $'\e' "$OUT"
run file create /memories/notes.md --file-text x
is "a path that is taken" 1 "$RC"
has "says so" "File /memories/notes.md already exists" "$ERR"
run file list
has "list" /memories/notes.md "$OUT"
run file history /memories/notes.md
has "history" create "$OUT"

# tool INPUT - what the application does with the input of a tool_use.
tool() {
    local command
    command=$(value "$1" command)
    call "file.$command" "${1/\"command\":\"$command\",/}"
}

start --store "$TMP/b.db"
tool '{"command":"create","path":"/memories/todo.md","file_text":"one\n"}'
is "create over HTTP" 200 "$STATUS"
is "text" "File created successfully at: /memories/todo.md" "$(value "$BODY" text)"
tool '{"command":"str_replace","path":"/memories/todo.md","old_str":"two","new_str":"2"}'
is "a text that is not there" 409 "$STATUS"
is "detail" "$(value "$BODY" detail)" \
    "No replacement was performed, old_str \`two\` did not appear verbatim in /memories/todo.md."
http GET "/v1/files/view?path=/memories/todo.md&view_range=%5B1,1%5D"
has "view by its route" 'with line numbers:\n     1\tone"' "$BODY"
http POST /v1/files/insert -d '{"path":"/memories/todo.md","insert_line":0,"insert_text":"zero"}'
is "insert by its route" 2 "$(value "$BODY" file.version)"
http POST /v1/files/rename -d '{"old_path":"/memories/todo.md","new_path":"/memories/d/t.md"}'
is "rename by its route" "Successfully renamed /memories/todo.md to /memories/d/t.md" \
    "$(value "$BODY" text)"
http GET "/v1/files/content?path=/memories/d/t.md&version=1"
has "an earlier version" '"content":"one\n"' "$BODY"
http GET "/v1/files?path=/memories/d"
is "list by its route" /memories/d/t.md "$(value "$BODY" files.0.path)"
http DELETE "/v1/files?path=/memories/d"
is "delete by its route" "Successfully deleted /memories/d" "$(value "$BODY" text)"
http GET "/v1/files/history"
is "history by its route" delete "$(value "$BODY" versions.0.operation)"
http POST /v1/files/forget -d '{"path":"/memories","wait":true}'
is "forget by its route" 1 "$(value "$BODY" removed.file)"
stop
finish
