#!/bin/bash
# Makes the documentation site in a directory (default: dist/docs): the project's Markdown, and docsify, which shows it in the browser.
# https://docsify.js.org
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-dist/docs}
docsify=node_modules/docsify/dist
[ -d "$docsify" ] || { echo "docsify is not installed: run bun install" >&2 && exit 1; }
rm -rf "$out"
mkdir -p "$out"
git ls-files -- '*.md' .github/screenshots ':!test' ':!.github/*template*' | tar -c -T - | tar -x -C "$out"
src/build/unlink.sh "$out"
# The navigation is the table of the index: a task, and its pages.
perl -ne 'next if /^\| (you want|---)/ || !/^\| (.+?) \| (.+) \|$/; print "- **$1**\n"; my $pages = $2; while ($pages =~ /\[(.*?)\]\((.*?)\)/g) {
	my ($name, $path) = ($1, "/src/docs/$2"); 1 while $path =~ s{/[^/]+/\.\./}{/}; print "  - [$name]($path)\n" }' src/docs/README.md >"$out/_sidebar.md"
cp src/docs/site/* "$docsify"/{docsify,plugins/search}.min.js "$docsify"/themes/{core,addons/core-dark}.min.css "$out"
