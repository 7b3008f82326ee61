#!/bin/bash
# In the Markdown below a directory, a link to a file that is not there becomes its text.
set -euo pipefail
find "$1" -type f -name "*.md" | while read -r document; do
	(cd "$(dirname "$document")" && perl -0pi -e 's{\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)}{my ($all, $text, $to) = ($&, $1, $2); $to =~ /^https?:/ || -e $to ? $all : $text}ge' "$(basename "$document")")
done
