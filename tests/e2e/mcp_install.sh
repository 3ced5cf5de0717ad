#!/bin/bash
# `loci mcp install`, `uninstall`, `clients` and `doctor` in a scratch home, for every client and
# scope. Existing content of a file of the user is kept byte for byte.
. "$(dirname "$0")/lib.sh"

unset XDG_CONFIG_HOME CLAUDE_CONFIG_DIR CODEX_HOME
export PATH=/usr/bin:/bin
mkdir -p "$TMP/project/.git" "$TMP/project/deeper"
cd "$TMP/project/deeper" || exit 1
P=$TMP/project

user_file() {
    case $1 in
    claude-code) echo "$HOME/.claude.json" ;;
    claude-desktop) echo "$HOME/.config/Claude/claude_desktop_config.json" ;;
    cursor) echo "$HOME/.cursor/mcp.json" ;;
    vscode) echo "$HOME/.config/Code/User/mcp.json" ;;
    codex) echo "$HOME/.codex/config.toml" ;;
    gemini) echo "$HOME/.gemini/settings.json" ;;
    zed) echo "$HOME/.config/zed/settings.json" ;;
    esac
}

# shellcheck disable=SC2317 # Called by the name of the scope.
project_file() {
    case $1 in
    claude-code) echo "$P/.mcp.json" ;;
    cursor) echo "$P/.cursor/mcp.json" ;;
    vscode) echo "$P/.vscode/mcp.json" ;;
    codex) echo "$P/.codex/config.toml" ;;
    gemini) echo "$P/.gemini/settings.json" ;;
    zed) echo "$P/.zed/settings.json" ;;
    esac
}

# entry FILE KEY - the entry as JSON with sorted names; the file is strict JSON or TOML.
entry() {
    python3 - "$1" "$2" <<'PY' 2>&1 | tail -1
import json, sys
data = open(sys.argv[1], "rb").read()
if sys.argv[1].endswith(".toml"):
    import tomllib
    tree = tomllib.loads(data.decode())
else:
    tree = json.loads(data)
print(json.dumps(tree[sys.argv[2]]["loci"], sort_keys=True))
PY
}

key_of() {
    case $1 in vscode) echo servers ;; codex) echo mcp_servers ;; zed) echo context_servers ;;
    *) echo mcpServers ;; esac
}

type_of() {
    case $1 in claude-code | cursor | vscode) echo ', "type": "stdio"' ;; esac
}

same() {
    if cmp -s "$2" "$3"; then pass; else fail "$1" "differs:" "$(diff "$2" "$3" | head -20)"; fi
}

digest() { find "$1" -type f -exec sha256sum {} + 2>/dev/null | sort; }

# ---- Every client and scope, without a file --------------------------------------------------
for client in claude-code claude-desktop cursor vscode codex gemini zed; do
    for scope in user project; do
        file=$("${scope}_file" $client)
        if [ -z "$file" ]; then
            run mcp install $client --scope $scope --yes
            is "$client has no project scope" 2 "$RC"
            continue
        fi
        run mcp install $client --scope $scope --yes --store "$TMP/a b.db" --user ada --persona p
        is "install $client $scope" 0 "$RC"
        args='["mcp", "--store", "'"$TMP/a b.db"'", "--user", "ada", "--persona", "p"]'
        is "$client $scope: entry" "{\"args\": $args, \"command\": \"$LOCI\"$(type_of $client)}" \
            "$(entry "$file" "$(key_of $client)")"
        is "$client $scope: mode" 600 "$(stat -c %a "$file")"
        has "$client $scope: shown as a diff" "+++ $file" "$OUT"
        run mcp install $client --scope $scope --yes --store "$TMP/a b.db" --user ada --persona p
        is "$client $scope again" 0 "$RC"
        has "$client $scope again: nothing to change" "Nothing to change" "$OUT"
        run mcp clients
        has "$client $scope: listed" "installed      $file" "$OUT"
        run mcp uninstall $client --scope $scope --yes
        is "uninstall $client $scope" 0 "$RC"
        is "$client $scope: the file is gone" no "$([ -e "$file" ] && echo yes || echo no)"
        rm -f "$file".loci-backup-*
        run mcp uninstall $client --scope $scope --yes
        is "$client $scope: nothing to remove" 0 "$RC"
        has "$client $scope: says so" "Nothing to change" "$OUT"
    done
done
run mcp clients --json
json "clients as JSON" "$OUT"

# ---- Files of users ---------------------------------------------------------------------------
# survives NAME CLIENT FILE - install and uninstall restore the file; the text is in $TMP/before.
survives() {
    local file=$3
    mkdir -p "$(dirname "$file")"
    cp "$TMP/before" "$file"
    chmod 640 "$file"
    run mcp install "$2" --yes
    is "$1: install" 0 "$RC"
    is "$1: something changed" no "$(cmp -s "$TMP/before" "$file" && echo yes || echo no)"
    is "$1: mode is kept" 640 "$(stat -c %a "$file")"
    same "$1: the backup is the old file" "$TMP/before" "$file".loci-backup-*
    has "$1: the backup is named" "$(echo "$file".loci-backup-*)" "$OUT"
    is "$1: no line of the user is lost" "" \
        "$(diff "$TMP/before" "$file" | sed -n 's/^< //p' | sed 's/[,{}[:space:]]*$//' |
            while IFS= read -r line; do grep -qF -- "$line" "$file" || echo "$line"; done)"
    run mcp uninstall "$2" --yes
    is "$1: uninstall" 0 "$RC"
    same "$1: restored" "$TMP/before" "$file"
    is "$1: mode is kept again" 640 "$(stat -c %a "$file")"
    rm -f "$file" "$file".loci-backup-*
}

printf '// Zed settings\n{\n\t"theme": "One Dark", // dark\n\t/* servers */\n'\
'\t"context_servers": {\n\t\t"a": { "command": "b", "args": ["c",], },\n\t},\n'\
'\t"tab_size": 4,\n}\n' >"$TMP/before"
survives "comments and trailing commas" zed "$(user_file zed)"
printf '{\r\n    "servers": {\r\n        "a": {"type": "stdio", "command": "b"}\r\n'\
'    },\r\n    "inputs": []\r\n}\r\n' >"$TMP/before"
survives "CRLF" vscode "$(user_file vscode)"
printf '\357\273\277{"mcpServers":{}}' >"$TMP/before"
survives "byte order mark, no line end" cursor "$(user_file cursor)"
: >"$TMP/before"
survives "an empty file" gemini "$(user_file gemini)"
printf '{}\n' >"$TMP/before"
survives "an empty object" claude-desktop "$(user_file claude-desktop)"
printf '{\n  "numStartups": 12345678901234567890,\n  "mcpServers": {},\n'\
'  "projects": {"/x": {"history": ["\\u00e9 // no comment"]}}\n}' >"$TMP/before"
survives "a file of Claude Code" claude-code "$(user_file claude-code)"
printf 'model = "m" # mine\n\n[mcp_servers.a]\ncommand = '"'b'"'\nargs = [\n'\
'  "c", # why\n]\n[profiles."x y"]\nz = """\n[mcp_servers.loci]\n"""' >"$TMP/before"
survives "TOML without a last line end" codex "$(user_file codex)"
printf 'a = 1\r\n\r\n[b]\r\nc = [1,\r\n 2]\r\n' >"$TMP/before"
survives "TOML with CRLF" codex "$(user_file codex)"
python3 - >"$TMP/before" <<'PY'
import json
print(json.dumps({"history": ["x" * 1000] * 3000, "mcpServers": {"a": {"command": "b"}}}, indent=2))
PY
survives "a file of 3 MB" claude-code "$(user_file claude-code)"

# Members of the entry that the user added stay when it is changed.
F=$(user_file cursor)
mkdir -p "$(dirname "$F")"
printf '{\n  "mcpServers": {\n    "loci": {\n      "command": "/old/loci",\n'\
'      "env": {"A": "1"} // mine\n    }\n  }\n}\n' >"$F"
run mcp install cursor --yes
is "replace" 0 "$RC"
has "replace: shows the old command" '-      "command": "/old/loci"' "$OUT"
has "replace: env stays" '"env": {"A": "1"}, // mine' "$(cat "$F")"
rm -f "$F" "$F".loci-backup-*

# ---- Files that must not be changed -----------------------------------------------------------
# refuses NAME PART CLIENT [ARGUMENT…] - exit 1, PART in the message, no file changed or added.
refuses() {
    local name=$1 part=$2 before
    shift 2
    before=$(digest "$HOME")
    run mcp install "$@" --yes
    is "$name: exit code" 1 "$RC"
    has "$name: why" "$part" "$ERR"
    is "$name: nothing changed" "$before" "$(digest "$HOME")"
}
F=$(user_file gemini)
mkdir -p "$(dirname "$F")"
printf '{\n  "a": 1\n  "b": 2\n}\n' >"$F"
refuses "a broken file" "$F: line 3, column 3" gemini
run mcp clients
has "a broken file is listed" "broken" "$OUT"
run mcp uninstall gemini --yes
is "a broken file: uninstall" 1 "$RC"
printf '{"mcpServers": []}' >"$F"
refuses "a list of another kind" "expected an object" gemini
printf '\377\376{\0}\0' >"$F"
refuses "UTF-16" "not UTF-8" gemini
printf '{}' >"$F"
chmod 444 "$F"
refuses "a read-only file" "read-only" gemini
chmod 644 "$F"
rm "$F"
mkdir "$F"
refuses "a directory" "not a regular file" gemini
rmdir "$F"
ln -s "$TMP/missing.json" "$F"
refuses "a link to nothing" "symbolic link" gemini
rm "$F"
printf 'mcp_servers = {}\n' >"$TMP/t.toml"
mkdir -p "$HOME/.codex"
cp "$TMP/t.toml" "$HOME/.codex/config.toml"
refuses "an inline table" "inline table" codex
rm "$HOME/.codex/config.toml"
refuses "a store with a password" "password" codex --store "postgresql://me:secret@localhost/x"
lacks "a password is not repeated" "secret" "$ERR$OUT"

# An entry of the same name that is not ours.
printf '{"mcpServers": {"loci": {"command": "npx", "args": ["loci"]}}}\n' >"$F"
before=$(digest "$HOME")
run mcp uninstall gemini --yes
is "an entry of others: exit code" 1 "$RC"
has "an entry of others: why" "does not run loci" "$ERR"
is "an entry of others: nothing changed" "$before" "$(digest "$HOME")"
rm "$F"
run mcp --yes
is "an option of install alone" 2 "$RC"

# A link is followed, not replaced.
mkdir -p "$TMP/dotfiles"
printf '{"a": 1}\n' >"$TMP/dotfiles/gemini.json"
ln -s "$TMP/dotfiles/gemini.json" "$F"
run mcp install gemini --yes
is "a link: install" 0 "$RC"
is "a link stays a link" "$TMP/dotfiles/gemini.json" "$(readlink "$F")"
has "its target has the entry" '"loci"' "$(cat "$TMP/dotfiles/gemini.json")"
run mcp uninstall gemini --yes
is "a link: restored" '{"a": 1}' "$(cat "$F")"
is "a link is still a link" yes "$([ -L "$F" ] && echo yes)"
rm "$F"

# ---- Questions ----------------------------------------------------------------------------------
before=$(digest "$HOME")
run mcp install zed
is "without --yes and a terminal" 2 "$RC"
has "it names --yes" "--yes" "$ERR"
has "it shows the change" '"context_servers"' "$OUT"
run mcp install zed --dry-run
is "--dry-run" 0 "$RC"
has "--dry-run shows the change" '+    "loci": {' "$OUT"
run mcp install zed --print
is "--print" 0 "$RC"
json "--print is the text alone" "$(printf '%s' "$OUT" | tr -d '\n')"
is "none of them wrote" "$before" "$(digest "$HOME")"

# asked ANSWER [COMMAND] - runs install on a terminal; COMMAND runs while the question waits.
asked() {
    python3 - "$LOCI" "$1" "${2:-}" <<'PY'
import os, pty, subprocess, sys
loci, answer, command = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(loci, [loci, "mcp", "install", "zed"])
seen = b""
while b"[y/N]" not in seen:
    seen += os.read(terminal, 4096)
if command:
    subprocess.run(command, shell=True, check=True)
os.write(terminal, answer.encode() + b"\n")
try:
    while True:
        part = os.read(terminal, 4096)
        if not part:
            break
        seen += part
except OSError:
    pass
sys.stdout.write(seen.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
}
F=$(user_file zed)
OUT=$(asked n)
is "no: exit code" 1 $?
has "no: says so" "Nothing was changed" "$OUT"
is "no: nothing written" no "$([ -e "$F" ] && echo yes || echo no)"
OUT=$(asked y)
is "yes: exit code" 0 $?
has "yes: written" '"loci"' "$(cat "$F")"
run mcp uninstall zed --yes
mkdir -p "$(dirname "$F")"
OUT=$(asked y "echo '{\"new\": 1}' >'$F'")
is "changed meanwhile: exit code" 1 $?
has "changed meanwhile: why" "in the meantime" "$OUT"
is "changed meanwhile: kept" '{"new": 1}' "$(cat "$F")"
rm -rf "$F" "$F".loci-*

# ---- Hooks ------------------------------------------------------------------------------------
S=$HOME/.claude/settings.json
mkdir -p "$HOME/.claude"
printf '{\n    "model": "opus",\n    "hooks": {\n        "SessionStart": [\n'\
'            {"hooks": [{"type": "command", "command": "echo loci hook"}]}\n'\
'        ],\n        "Stop": []\n    }\n}\n' >"$S"
cp "$S" "$TMP/settings"
run mcp install claude-code --hooks --yes
is "hooks: install" 0 "$RC"
is "hooks: one of ours per event" "SessionStart 2 UserPromptSubmit 1 PreCompact 1 SessionEnd 1" "$(
    python3 - "$S" "$LOCI" <<'PY' 2>&1 | tail -1
import json, sys
hooks = json.load(open(sys.argv[1]))["hooks"]
out = []
for event in ["SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"]:
    last = hooks[event][-1]["hooks"][0]
    assert last["type"] == "command" and last["command"] == sys.argv[2] + " hook " + event, last
    out += [event, str(len(hooks[event]))]
print(*out)
PY
)"
run mcp install claude-code --hooks --yes
has "hooks again: nothing" "Nothing to change" "$OUT"
run mcp install claude-code --hooks --yes --user "o'brien"
is "hooks with another user" 0 "$RC"
is "hooks: still one of ours per event" 4 "$(grep -c "hook [A-Z][A-Za-z]* --user" "$S")"
is "hooks: quoted for a shell" 4 "$(grep -c "'o'..''brien'" "$S")"
run mcp uninstall claude-code --yes
is "hooks: uninstall" 0 "$RC"
same "hooks: restored" "$TMP/settings" "$S"
run mcp install cursor --hooks --yes
is "no hooks for others" 2 "$RC"
rm -rf "$HOME/.claude" "$HOME"/.claude.json*

# ---- URLs ---------------------------------------------------------------------------------------
U=http://127.0.0.1:7077/mcp
run mcp install claude-code --http $U --token-variable LOCI_TOKEN --yes
# shellcheck disable=SC2016 # Claude Code replaces it.
headers='{"Authorization": "Bearer ${LOCI_TOKEN}"}'
is "Claude Code: URL" "{\"headers\": $headers, \"type\": \"http\", \"url\": \"$U\"}" \
    "$(entry "$HOME/.claude.json" mcpServers)"
run mcp install claude-code --yes
is "and back to a command" "{\"args\": [\"mcp\"], \"command\": \"$LOCI\", \"type\": \"stdio\"}" \
    "$(entry "$HOME/.claude.json" mcpServers)"
run mcp install codex --http $U --token-variable LOCI_TOKEN --yes
is "Codex: URL" "{\"bearer_token_env_var\": \"LOCI_TOKEN\", \"url\": \"$U\"}" \
    "$(entry "$HOME/.codex/config.toml" mcp_servers)"
run mcp install gemini --http $U --yes
is "Gemini: URL" "{\"httpUrl\": \"$U\"}" "$(entry "$(user_file gemini)" mcpServers)"
for arguments in "claude-desktop --http $U" "zed --http $U --token-variable A" \
    "cursor --token-variable A" "cursor --http ftp://x" "cursor --http $U --token-variable 1A" \
    "cursor --scope world" "cursor --name a/b" "curser" ""; do
    # shellcheck disable=SC2086 # Words.
    run mcp install $arguments --yes
    is "wrong usage: $arguments" 2 "$RC"
done
has "the clients are listed" "claude-code" "$ERR"
rm -rf "$HOME"/.claude* "$HOME/.codex" "$HOME/.gemini"

# ---- Which program ------------------------------------------------------------------------------
mkdir -p "$TMP/bin"
ln -s "$LOCI" "$TMP/bin/loci"
PATH=$TMP/bin:$PATH
run mcp install cursor --print
has "the path in PATH is written" "\"command\": \"$TMP/bin/loci\"" "$OUT"
run mcp install cursor --print --scope project
has "a project gets the name" '"command": "loci"' "$OUT"
export LOCI_STORE=rel.db
run mcp install cursor --print
has "a store from the environment is written" "\"$PWD/rel.db\"" "$OUT"
unset LOCI_STORE
printf '#!/bin/sh\n' >"$TMP/bin/other"
chmod +x "$TMP/bin/other"
rm "$TMP/bin/loci"
mv "$TMP/bin/other" "$TMP/bin/loci"
run mcp install cursor --print
has "another loci in PATH is not written" "\"command\": \"$LOCI\"" "$OUT"
rm "$TMP/bin/loci"

# ---- Doctor -----------------------------------------------------------------------------------
run mcp doctor
is "doctor without entries" 1 "$RC"
has "doctor says what to do" "loci mcp install" "$OUT"
run mcp install claude-code --yes
run mcp doctor claude-code --json
json "doctor as JSON" "$OUT"
run mcp doctor claude-code
has "doctor: the server answers" "✓ start        loci" "$OUT"
has "doctor: the other generation" "✓ discover" "$OUT"
has "doctor: hooks are optional" "• hooks" "$OUT"
run mcp doctor zed
is "a client without an entry" 1 "$RC"

# A server of our own, to see each check fail.
cat >"$TMP/bin/loci" <<PY
#!$PYTHON
import json, os, sys, time
mode = os.environ.get("MODE", "good")
if mode == "end":
    sys.stderr.write("cannot open the store\n")
    sys.exit(3)
if mode == "noise":
    print("hello", flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    method = request["method"]
    result = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {},
                             "serverInfo": {"name": "loci", "version": "0.0.9"}},
              "tools/list": {"tools": [
                  {"name": "erase", "inputSchema": {"type": "object"}},
                  {"name": "recall", "annotations": {"readOnlyHint": True},
                   "inputSchema": {"type": "object", "required": ["query"],
                                   "properties": {"query": {"type": "string"}}}}]},
              "server/discover": {"supportedVersions": ["2026-07-28"]}}.get(method)
    if method == "tools/call":
        good = request["params"] == {"name": "recall", "arguments": {"query": "loci doctor"}}
        result = {"content": [{"type": "text", "text": os.getcwd() + " " + " ".join(sys.argv[1:])}],
                  "isError": mode == "tool" or not good}
    if mode == "silent":
        time.sleep(60)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
PY
chmod +x "$TMP/bin/loci"
F=$HOME/.claude.json
# fake MODE - an entry of Claude Code that runs it, with its own folder and arguments.
fake() {
    local server='{"command": "%s", "args": ["mcp", "--store", "%s"], "cwd": "/",'
    server="$server \"env\": {\"MODE\": \"%s\"}}"
    # shellcheck disable=SC2059 # A format.
    printf "{\"mcpServers\": {\"loci\": $server}}" "$TMP/bin/loci" "$TMP/other.db" "$1" >"$F"
    run mcp doctor claude-code
}
fake good
is "doctor: a good server" 0 "$RC"
has "doctor: tools" "2 tools" "$OUT"
has "doctor: a tool that reads was called" "recall answered" "$OUT"
has "doctor: another version" "0.0.9" "$OUT"
has "doctor: another program" "another program" "$OUT"
has "doctor: another store" "the entry uses $TMP/other.db" "$OUT"
fake tool
is "doctor: a tool fails" 1 "$RC"
has "doctor: folder and arguments of the entry" "/ mcp --store $TMP/other.db" "$OUT"
fake end
is "doctor: the server ends" 1 "$RC"
has "doctor: its stderr" "cannot open the store" "$OUT"
fake noise
is "doctor: noise on stdout" 1 "$RC"
has "doctor: names the noise" "not JSON: hello" "$OUT"
fake silent
is "doctor: a server that never answers" 1 "$RC"
has "doctor: gives up" "no answer in time" "$OUT"
is "doctor: it was killed" "" "$(pgrep -f "$TMP/bin/loci")"
printf '{"mcpServers": {"loci": {"command": "/gone/loci", "args": ["mcp"]},'\
' "memory": {"command": "loci"}}}' >"$F"
run mcp doctor claude-code
is "doctor: a program that is gone" 1 "$RC"
has "doctor: names it" "/gone/loci is not there" "$OUT"
has "doctor: several entries" "2 entries name loci" "$OUT"
printf '{"mcpServers": {' >"$F"
run mcp doctor claude-code
is "doctor: a broken file" 1 "$RC"
has "doctor: names the line" "$F: line 1" "$OUT"
finish
