#!/bin/bash
# The packages in a root directory with nothing but Debian's required packages: they install, the
# README's commands work, the daemon starts as its unit says, and removing keeps the data.
#
# Mounts are made in namespaces of their own and are gone with the command that needed them. The
# daemon runs in a network namespace of its own, where it can have its usual port.
# shellcheck source=tests/package/lib.sh
. "$(dirname "$0")/lib.sh"
root=$DEBS/root

# leave_out REASON - with success, but not in CI, where nothing may be left out.
leave_out() {
    echo "no clean root, so the packages were not installed: $1" >&2
    [ -z "${CI:-}" ] || fail "a clean root" "$1"
    finish
}

# The mirror of this machine's own sources.
codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
# shellcheck disable=SC2016 # The $() is apt's.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $codename" \
    'Origin: Debian' | head -1)
base=$DEBS/base-$codename
[ "$(id -u)" = 0 ] || leave_out "only root can make one"
[ -n "$mirror" ] || leave_out "apt has no sources of Debian $codename; run apt-get update"
unshare --mount --pid --net --fork true 2>"$TMP/err" || leave_out "$(cat "$TMP/err")"
# A base that is a week old is made again, with the versions of today.
[ -z "$(find "$base.made" -mtime +7 2>/dev/null)" ] || rm -f "$base.made"
if [ ! -e "$base.made" ]; then
    rm -rf "$base"
    debootstrap --variant=minbase "$codename" "$base" "$mirror" >"$TMP/log" 2>&1 ||
        leave_out "$(tail -1 "$TMP/log")"
    touch "$base.made"
fi
rm -rf "$root"
cp -a "$base" "$root"
mkdir "$root/debs"
for name in loci libloci0.1 libloci-dev loci-data; do cp "$(deb "$name")" "$root/debs/"; done
# The network of this machine, its proxies for apt included.
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
apt-config dump Acquire >"$root/etc/apt/apt.conf.d/90machine"
# shellcheck disable=SC2016 # As above.
apt-get indextargets --format 'deb $(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' \
    'Origin: Debian' | sort -u >"$root/etc/apt/sources.list"

# in_root [--net] COMMAND... - as root of the clean root; with --net, with a loopback of its own.
in_root() {
    local network=() first=true
    if [ "$1" = --net ]; then
        network=(--net)
        first='ip link set lo up'
        shift
    fi
    # shellcheck disable=SC2016 # For the inner shell.
    unshare --mount --pid --fork --kill-child "${network[@]}" sh -c "$first"' &&
        mount -t proc proc "$0/proc" &&
        exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
            LC_ALL=C.UTF-8 chroot "$0" "$@"' "$root" "$@"
}

in_root sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends \
    -o Dpkg::Use-Pty=0 /debs/*.deb' >"$TMP/log" 2>&1
is "the packages are installed" "0 " "$? $(grep -E '^(E|W|dpkg):' "$TMP/log")"
is "the user is made" loci "$(in_root id -nu loci)"
is "so is the directory of the store" "loci loci 700" \
    "$(in_root stat -c '%U %G %a' /var/lib/loci)"
is "only the daemon reads the settings" "root loci 640" \
    "$(in_root stat -c '%U %G %a' /etc/loci/loci.json)"
is "the daemon waits for its administrator" disabled \
    "$(in_root systemctl is-enabled loci.service)"
is "the unit is right" "" "$(in_root systemd-analyze verify --man=no loci.service 2>&1)"
in_root systemd-analyze security --offline=true --threshold=15 loci.service >"$TMP/log" 2>&1
is "the daemon's exposure is at most 1.5" "0 " "$? $(tail -1 "$TMP/log" | grep -v OK)"

# The README's commands as a new user, through a wrapper that runs loci inside the root.
in_root useradd --create-home --home-dir /newcomer newcomer
cat >"$TMP/loci" <<END
#!/bin/bash
root=$root
$(declare -f in_root)
in_root setpriv --reuid newcomer --regid newcomer --clear-groups \\
    env HOME=/newcomer sh -c 'cd && exec loci "\$@"' loci "\$@"
END
chmod +x "$TMP/loci"
LOCI=$TMP/loci "$REPOSITORY/tests/e2e/readme.sh" >"$TMP/log" 2>&1
is "the commands of the README" "0 " "$? $(grep -A2 FAIL "$TMP/log")"
counted=$("$TMP/loci" call text.count '{"text":"a b"}')
is "loci-data is found" false "$(value "$counted" estimated)"

# The daemon, as systemd would start it. It is given what systemd makes: a directory in /run.
cat >"$root/start" <<'END'
unit=/lib/systemd/system/loci.service
of_unit() { sed -n "s/^$1=//p" "$unit"; }
install -d -m 0700 -o loci -g loci /run/loci
# shellcheck disable=SC2046 # Words of the unit.
setpriv --reuid "$(of_unit User)" --regid "$(of_unit Group)" --init-groups --no-new-privs \
    --bounding-set=-all --inh-caps=-all env -i $(of_unit Environment) $(of_unit ExecStart) \
    >/tmp/daemon.out 2>/tmp/daemon.log &
daemon=$!
ready() {
    exec 3<>/dev/tcp/127.0.0.1/7077 || return
    printf 'GET /readyz HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' >&3
    head -1 <&3 | tr -d '\r'
}
tries=100
until answer=$(ready 2>/dev/null) && [ -n "$answer" ] || [ "$tries" = 0 ]; do
    sleep 0.1
    tries=$((tries - 1))
done
echo "readyz: $answer"
# Listening sockets (state 0A) by address: 0100007F is 127.0.0.1.
echo "listens: $(cat /proc/net/tcp /proc/net/tcp6 |
    awk '$4 == "0A" {sub(/:.*/, "", $2); print $2}' | sort -u)"
loci doctor --url http://127.0.0.1:7077 --token-file /var/lib/loci/admin.token >/dev/null 2>&1
echo "doctor: $?"
echo "user: $(stat -c %U "/proc/$daemon")"
kill -TERM "$daemon"
wait "$daemon"
echo "end: $?"
cat /tmp/daemon.log >&2
END
OUT=$(in_root --net bash /start 2>"$TMP/log")
has "the daemon is ready" "readyz: HTTP/1.1 200 OK" "$OUT"
is "it listens on the loopback address only" "listens: 0100007F" "$(grep listens <<<"$OUT")"
is "its token opens it" "doctor: 0" "$(grep doctor <<<"$OUT")"
is "it runs as its user" "user: loci" "$(grep user <<<"$OUT")"
is "it ends when it is told to" "end: 0" "$(grep end <<<"$OUT")"
[ "$failed" = 0 ] || tail -5 "$TMP/log" >&2

# Install again, after the settings were changed.
in_root sed -i 's/"info"/"debug"/' /etc/loci/loci.json
in_root sh -c 'dpkg -i /debs/*.deb' >"$TMP/log" 2>&1
is "installing again" 0 "$?"
has "keeps changed settings" debug "$(cat "$root/etc/loci/loci.json")"
in_root sh -c 'apt-get remove -y -qq loci' >"$TMP/log" 2>&1
is "removing keeps settings and store" yes \
    "$([ -s "$root/etc/loci/loci.json" ] && [ -s "$root/var/lib/loci/loci.db" ] && echo yes)"
OUT=$(in_root sh -c 'apt-get purge -y -qq loci' 2>&1)
is "purging removes the settings" no "$([ -e "$root/etc/loci" ] && echo yes || echo no)"
is "and keeps the store" yes "$([ -s "$root/var/lib/loci/loci.db" ] && echo yes)"
has "and says where it is" "the store in /var/lib/loci is kept" "$OUT"
rm -rf "$root"
finish
