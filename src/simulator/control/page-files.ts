// The files of the simulator's page. Read when the program is built, so that it contains their texts.

import { readFileSync } from "node:fs";

/** The texts by the paths below src/pages. */
export function pageFiles(): Record<string, string> {
	const pages = `${import.meta.dir}/../../pages`;
	const paths = ["dom.js", "icon.svg", "style.css", ...new Bun.Glob("simulator/**/*.{js,css,html}").scanSync(pages)];
	return Object.fromEntries(paths.map((path) => [path, readFileSync(`${pages}/${path}`, "utf8")]));
}
