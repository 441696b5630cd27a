#!/usr/bin/env bash
# Fetches what the console takes from others into assets/vendor: `./vendor.sh` writes the files, their licences and the sums of the packages
# that they come from; `./vendor.sh check` fails if what is there differs. Needs npm and the network; to build gslb needs neither.
set -euo pipefail
cd "$(dirname "$0")"
packages="htm@3.1.1 uplot@1.6.32 world-atlas@2.0.2"
target=assets/vendor
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
out=$scratch/vendor
mkdir "$out"

for package in $packages; do
	name=${package%@*}
	npm pack --silent --ignore-scripts --pack-destination "$scratch" "$package" >/dev/null
	archive=$(ls "$scratch/$name"-*.tgz)
	echo "$package sha512-$(openssl dgst -sha512 -binary "$archive" | base64 -w0)"
	mkdir "$scratch/$name" && tar -xzf "$archive" -C "$scratch/$name" --strip-components 1
done >"$out/SUMS.txt"

# The standalone file of htm has Preact 10 and its hooks in it.
cp "$scratch/htm/preact/standalone.module.js" "$out/preact.js"
cp "$scratch/uplot/dist/uPlot.iife.min.js" "$out/uplot.js"
cp "$scratch/uplot/dist/uPlot.min.css" "$out/uplot.css"
cp "$scratch/world-atlas/land-110m.json" "$out/land.json"
{
	echo "htm 3.1.1 (https://github.com/developit/htm), with Preact inside (https://github.com/preactjs/preact)"
	echo
	cat "$scratch/htm/LICENSE"
	echo
	cat preact-license.txt
	echo
	echo "uPlot 1.6.32 (https://github.com/leeoniya/uPlot)"
	echo
	cat "$scratch/uplot/LICENSE"
	echo
	echo "world-atlas 2.0.2 (https://github.com/topojson/world-atlas); the outlines are of Natural Earth, public domain"
	echo
	cat "$scratch/world-atlas/LICENSE"
} >"$out/LICENSES.txt"

if [ "${1:-}" = check ]; then
	diff -r "$out" "$target"
	exit
fi
rm -rf "$target"
cp -r "$out" "$target"
wc -c "$target"/*
