#!/bin/sh
# Makes Debian packages of a build, installs them into an empty system and builds a consumer with them. usage:
# debian.sh BUILD FIXTURES; exit code 77: a needed program is missing
set -eu
build=$1 fixtures=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$build/tests/debian/root
command -v dpkg >/dev/null && command -v dpkg-shlibdeps >/dev/null || { echo "skipped: there is no dpkg-dev"; exit 77; }
rm -rf "$build/tests/debian" "$build"/dist/*.deb
(cd "$build" && cpack -G DEB >tests/cpack.log 2>&1) || { tail -20 "$build/tests/cpack.log"; exit 1; }
mkdir -p "$root/var/lib/dpkg"
touch "$root/var/lib/dpkg/status"
# This system provides the dependencies of the packages.
dpkg --root="$root" --force-depends --force-not-root --force-script-chrootless --log=/dev/null \
    --install "$build"/dist/*.deb >"$build/tests/debian/dpkg.log" 2>&1 || { cat "$build/tests/debian/dpkg.log"; exit 1; }
same() { [ "$1" = "$2" ] || { echo "$3: '$1', not '$2'"; exit 1; }; }
version=$("$root/usr/bin/autotune" --version | sed -n 's/^autotune //p')
for package in autotune libautotune0 libautotune-dev; do
    same "$(dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${Version}' "$package")" "$version" "version of $package"
done
dpkg-deb -f "$build"/dist/autotune_*.deb Depends | grep -q liblua5.4-0 || { echo "autotune does not depend on Lua"; exit 1; }
"$root/usr/bin/autotune" space transpose --arch sm_90 --json >/dev/null
for file in share/man/man1/autotune.1 share/man/man1/autotune-tune.1 share/bash-completion/completions/autotune share/doc/autotune/copyright include/autotune.h; do
    [ -s "$root/usr/$file" ] || { echo "there is no $file"; exit 1; }
done
export PKG_CONFIG_PATH="$root/usr/lib/pkgconfig" LD_LIBRARY_PATH="$root/usr/lib"
same "$(pkg-config --modversion autotune)" "$version" "pkg-config's version"
# shellcheck disable=SC2046
cc -std=c11 "$here/consumer/consumer.c" $(pkg-config --cflags --libs autotune) -o "$build/tests/debian/consumer"
"$build/tests/debian/consumer" "$fixtures/results" >/dev/null
