#!/usr/bin/env bash
# Fetches promtool, which test/local/metrics.test.ts asks, from Debian's package and without installing it.
# Needs Debian or one like it, and `apt-get update` beforehand; the package is the machine's own release.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p .cache
debs=$(mktemp -d)
(cd "$debs" && apt-get download prometheus)
rm -rf .cache/prometheus .cache/prometheus.new
dpkg-deb -x "$debs"/*.deb .cache/prometheus.new
mv .cache/prometheus.new .cache/prometheus
rm -r "$debs"
echo "promtool is in .cache/prometheus/usr/bin."
