#!/usr/bin/env bash
# Fetches what the console takes from others into assets/vendor: `./vendor.sh` writes the files, their licences and the
# sums of the packages that they come from; `./vendor.sh check` fails if what is there differs. Needs npm and the
# network; to build gslb needs neither.
set -euo pipefail
cd "$(dirname "$0")"
packages="preact@10.29.8 htm@3.1.1 uplot@1.6.32 world-atlas@2.0.2"
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

# A page without inline code has no import map, so modules import one another by their files. Maps of the sources are
# not served.
module() { sed -e 's|from *"preact"|from"./preact.js"|' -e '/^\/\/# sourceMappingURL/d' "$scratch/$1" >"$out/$2"; }
module preact/dist/preact.module.js preact.js
module preact/hooks/dist/hooks.module.js hooks.js
module htm/dist/htm.module.js htm.js
cp "$scratch/uplot/dist/uPlot.iife.min.js" "$out/uplot.js"
cp "$scratch/uplot/dist/uPlot.min.css" "$out/uplot.css"
cp "$scratch/world-atlas/land-110m.json" "$out/land.json"
{
	echo "Preact 10.29.8 (https://github.com/preactjs/preact)"
	echo
	cat "$scratch/preact/LICENSE"
	echo
	echo "htm 3.1.1 (https://github.com/developit/htm)"
	echo
	cat "$scratch/htm/LICENSE"
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
