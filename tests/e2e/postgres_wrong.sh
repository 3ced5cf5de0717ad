#!/usr/bin/env bash
# A server that cannot be used: every cause is said in words of its own, without a password, the
# daemon waits rather than ends, and goes on when the cause is gone.
set -u
here=$(dirname "$0")
# shellcheck source=tests/e2e/lib.sh
. "$here/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$here/serve_lib.sh"

coproc SERVER { exec "$here/../lib/postgres.sh" 2>/dev/null; }
read -r dir <&"${SERVER[0]}"
sql() { /usr/lib/postgresql/15/bin/psql -q -h "$dir" -U loci loci -c "$1" >/dev/null; }
url="postgresql://loci@/loci?host=$dir"
locked="postgresql://locked:hush@/loci?host=$dir&options=-csearch_path%3Dlocked"
sql 'create schema locked authorization locked'

# refused NAME URL WORDS - the program says WORDS and ends with an error.
refused() {
    run fact list --store "$2"
    isnt "$1: an error" 0 "$RC"
    has "$1: its words" "$3" "$ERR"
    lacks "$1: no password" hush "$OUT$ERR"
}

refused "a port that is none" "postgresql://me:hush@h:port/x" "URL cannot be read"
refused "a URL that is none" "postgresql://me:hush@[::1/x" "URL cannot be read"
refused "nobody there" "postgresql://me:hush@127.0.0.1:1/x" "cannot be reached"
refused "no such directory" "postgresql://me:hush@/x?host=$TMP" "cannot be reached"
refused "no such database" "postgresql://loci:hush@/nowhere?host=$dir" "no such database"
refused "no such user" "postgresql://nobody:hush@/loci?host=$dir" "does not know the user"
refused "a wrong password" "$locked" "refuses the user or the password"
refused "no store" "$url" "there is no store"

# hides SPELLING - no command shows the password, whatever it makes of the name.
hides() {
    run fact list --store "$1"
    isnt "$1: an error" 0 "$RC"
    lacks "$1: fact list shows no password" hush "$OUT$ERR"
    run doctor --store "$1"
    lacks "$1: doctor shows no password" hush "$OUT$ERR"
}

there=127.0.0.1:1/x
for spelling in "postgresql://me:hush@$there" "postgres://me:a?hush@$there" \
    "postgresql://me:a@hush@$there" "postgresql://me:a/hush@$there" "postgresql://me:hush/x" \
    "postgresql://$there?password=hush" "postgresql://$there?p%61ssword=hush" \
    "postgresql://$there?PASSWORD=hush" "postgresql://$there?sslpassword=hush&sslmode=require" \
    "postgresql://$there?password=a&hush" "postgresql://$there?user=a@b&password=hush" \
    "Postgresql://me:hush@$there" "postgresql:me:hush@$there" \
    "host=127.0.0.1 port=1 password=hush" "host=127.0.0.1 PASSWORD = 'a hush'"; do
    hides "$spelling"
done
export PGPASSWORD=hush
hides "postgresql://locked@/loci?host=$dir"
unset PGPASSWORD

# waits NAME URL WORDS - a daemon says WORDS, lives, and has not begun to serve.
waits() {
    rm -f "$TMP/daemon.out" "$TMP/token"
    "$LOCI" serve --store "$2" --listen 127.0.0.1:0 --no-socket --token-file "$TMP/token" --json \
        >"$TMP/daemon.out" 2>"$TMP/daemon.log" </dev/null &
    DAEMON=$!
    wait_for 20 grep -q store.unavailable "$TMP/daemon.log"
    wait_for 20 grep -q "$3" "$TMP/daemon.log"
    has "$1: the daemon says why" "$3" "$(cat "$TMP/daemon.log")"
    is "$1: it does not end" 0 "$(kill -0 "$DAEMON" 2>/dev/null; echo $?)"
    is "$1: it does not serve" "" "$(cat "$TMP/daemon.out")"
}

# goes_on NAME - then it serves.
goes_on() {
    wait_for 20 test -s "$TMP/daemon.out" || fail "$1: it serves" "$(cat "$TMP/daemon.log")"
    URL=$(value "$(cat "$TMP/daemon.out")" address)
    AUTH="Authorization: Bearer $(cat "$TMP/token")"
    call fact.write '{"key":"k","value":1}'
    is "$1: it goes on" 200 "$STATUS"
    stop
    is "$1: it ends" 0 "$RC"
    lacks "$1: no password" hush "$(cat "$TMP/daemon.log" "$TMP/daemon.out")"
}

waits "a wrong password" "$locked" "refuses the user or the password"
sql "alter role locked password 'hush'"
goes_on "a wrong password"

sql 'alter role locked connection limit 0'
refused "a full server" "$locked" "no connection left"
waits "a full server" "$locked" "no connection left"
sql 'alter role locked connection limit -1'
goes_on "a full server"

waits "no such database" "postgresql://loci:hush@/later?host=$dir" "no such database"
sql 'create database later'
goes_on "no such database"

sql "update locked.meta set value = value || '0' where name like 'schema_%'"
refused "a newer store" "$locked" "use a newer loci"
waits "a newer store" "$locked" "use a newer loci"
sql "update locked.meta set value = left(value, -1) where name like 'schema_%'"
goes_on "a newer store"

# While it serves: connections are refused, and then they are not.
start --store "$locked" --no-socket
call fact.write '{"key":"k","value":2}'
is "it serves" 200 "$STATUS"
sql 'alter role locked connection limit 0'
sql "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'locked'"
call fact.write '{"key":"k","value":3}'
is "a full server is unavailable" 503 "$STATUS"
has "which is said" "no connection left" "$BODY"
call fact.get '{"id":"fact_none"}'
is "to readers, too" 503 "$STATUS"
sql 'alter role locked connection limit -1'
call fact.write '{"key":"k","value":4}'
is "and then it goes on" 200 "$STATUS"
is "in the same process" 0 "$(kill -0 "$DAEMON" 2>/dev/null; echo $?)"
stop
is "it ends" 0 "$RC"
finish
