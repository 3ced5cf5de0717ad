# shellcheck shell=bash
# lib.sh - the packages that script/package built, unpacked, with the checks of tests/e2e/lib.sh.
#
# Sets DEBS (their directory), VERSION, and LOCI to the program in UNPACKED.
REPOSITORY=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
DEBS=$REPOSITORY/build/package
UNPACKED=$DEBS/unpacked
VERSION=$(dpkg-parsechangelog -l "$REPOSITORY/debian/changelog" -S Version)

# deb NAME - the file of a package.
deb() { echo "$DEBS/$1_${VERSION}_"*.deb; }

rm -rf "$UNPACKED"
for name in loci libloci0.1 libloci-dev loci-data; do
    dpkg-deb -x "$(deb "$name")" "$UNPACKED" || exit 2
done
export LOCI=$UNPACKED/usr/bin/loci
# shellcheck source=tests/e2e/lib.sh
. "$REPOSITORY/tests/e2e/lib.sh"
