#!/usr/bin/env bash
# Fetches the mail servers that the tests in test/suites ask or send with, and what signs and sends beside them, as
# Debian packages and without installing them: they conflict with one another, so each gets a folder of its own beside
# the others. Nothing is started.
# Needs Debian or one like it, and `apt-get update` beforehand; the packages are the machine's own release.
set -euo pipefail
cd "$(dirname "$0")/.."

servers=${MAIL_SERVERS_DIR:-.cache/mail-servers}
mkdir -p "$servers"
servers=$(cd "$servers" && pwd)

# The package and whatever it would bring along here, such as a library that this machine lacks.
packages_of() {
  echo "$1"
  apt-get install --simulate --no-install-recommends "$1" | awk '$1 == "Inst" { print $2 }'
}

fetch() {
  local package=$1 root=$servers/$1 debs
  debs=$(mktemp -d)
  packages_of "$package" | sort -u | (cd "$debs" && xargs apt-get download)
  rm -rf "$root" "$root.new"
  for deb in "$debs"/*.deb; do dpkg-deb -x "$deb" "$root.new"; done
  # Named last, so that half a server is none.
  mv "$root.new" "$root"
  rm -r "$debs"
}

for package in postfix exim4-daemon-light opensmtpd opendkim msmtp libmail-dkim-perl; do
  fetch "$package"
done
echo "Postfix, Exim, OpenSMTPD, OpenDKIM, msmtp and Mail::DKIM are in $servers."
