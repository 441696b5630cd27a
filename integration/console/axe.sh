#!/usr/bin/env bash
# Fetches axe-core, with which TestConsole_PassesAxeInBothThemes judges the console, into testdata. Needs npm and the
# network; the tests do not.
set -euo pipefail
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
npm pack --silent --ignore-scripts --pack-destination "$scratch" axe-core@4.14.1 >/dev/null
tar -xzf "$scratch"/axe-core-*.tgz -C "$scratch"
gzip -9nc "$scratch/package/axe.min.js" >testdata/axe.min.js.gz # its licence, MPL 2.0, is in its first lines
echo "axe-core@4.14.1 sha512-$(openssl dgst -sha512 -binary "$scratch"/axe-core-*.tgz | base64 -w0)" >testdata/SUMS.txt
