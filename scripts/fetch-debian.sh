#!/usr/bin/env bash
# Fetches programs that tests run, as Debian packages and without installing them: they conflict with one another, so each gets a
# folder. The tests in test/suites ask the mail servers and send with them; test/local/metrics.test.ts runs promtool.
# Needs Debian or one like it, and `apt-get update` beforehand; the packages are the machine's own release.
set -euo pipefail
cd "$(dirname "$0")/.."

servers=${MAIL_SERVERS_DIR:-.cache/mail-servers}
mkdir -p "$servers"

# The package, and each library that it needs and this machine lacks.
packages_of() {
  echo "$1"
  apt-get install --simulate --no-install-recommends "$1" | awk '$1 == "Inst" { print $2 }'
}

# fetch FOLDER PACKAGE...
fetch() {
  local root=$1 debs
  shift
  debs=$(mktemp -d)
  (cd "$debs" && printf '%s\n' "$@" | sort -u | xargs apt-get download)
  rm -rf "$root" "$root.new"
  for deb in "$debs"/*.deb; do dpkg-deb -x "$deb" "$root.new"; done
  # Named last, so that half a program is none.
  mv "$root.new" "$root"
  rm -r "$debs"
}

for package in postfix exim4-daemon-light opensmtpd opendkim msmtp; do
  # shellcheck disable=SC2046
  fetch "$servers/$package" $(packages_of "$package")
done
fetch .cache/prometheus prometheus
echo "Postfix, Exim, OpenSMTPD, OpenDKIM and msmtp are in $servers, promtool is in .cache/prometheus/usr/bin."
