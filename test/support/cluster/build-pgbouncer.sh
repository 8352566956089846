#!/usr/bin/env bash
# Builds PgBouncer 1.24 from the source package of Debian 13 into node_modules/.cache/pgbouncer, because the one of Debian
# 12 (1.18) has no prepared statements. Needs gcc, make, pkg-config, libevent-dev and libssl-dev.
set -euo pipefail
cd "$(dirname "$0")/../../.."

version=1.24.1-1+deb13u2
folder="$PWD/node_modules/.cache/pgbouncer"
[ ! -x "$folder/pgbouncer" ] || exit 0

build="$(mktemp -d)"
trap 'rm -rf "$build"' EXIT
cd "$build"
mkdir -p lists/partial cache/archives/partial
echo 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main' > sources.list
options=(
  -q -o "Dir::Etc::SourceList=$build/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o "Dir::State::Lists=$build/lists" -o "Dir::Cache=$build/cache"
  -o "APT::Sandbox::User=$(id -un)"
)
apt-get "${options[@]}" update
apt-get "${options[@]}" source --download-only "pgbouncer=$version"
tar xf pgbouncer_*.orig.tar.gz
cd pgbouncer-*/
./configure --without-cares --without-pam --disable-debug
make pgbouncer
mkdir -p "$folder"
# The name appears when the file is complete.
cp pgbouncer "$folder/pgbouncer.new"
mv "$folder/pgbouncer.new" "$folder/pgbouncer"
