// The files of a page. Read when the program is built (a macro), so that it contains their texts.

import { readFileSync } from "node:fs";

/** The texts by the paths below src/pages. `page`: a folder there. */
export function pageFiles(page: string): Record<string, string> {
	const shared = ["dom.js", "icon.svg", "style.css", "untrusted.js"];
	const paths = [...shared, ...new Bun.Glob(`${page}/**/*.{js,css,html}`).scanSync(import.meta.dir)];
	return Object.fromEntries(paths.map((path) => [path, readFileSync(`${import.meta.dir}/${path}`, "utf8")]));
}
