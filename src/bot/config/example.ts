// The files of instances/example, the templates for new instances. They are embedded, since an executable has no sources.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import env from "../../../instances/example/.env" with { type: "text" };
import schema from "../../../instances/example/config.schema.json" with { type: "text" };
import config from "../../../instances/example/config.toml" with { type: "text" };
import personality from "../../../instances/example/personality.txt" with { type: "text" };

/** By file name, in the order in which they are listed. */
export const example: ReadonlyMap<string, string> = new Map([
	[".env", env],
	["config.toml", config],
	["config.schema.json", schema as unknown as string],
	["personality.txt", personality],
]);

/** An editor's copy of the schema follows the bot's version. In a directory that cannot be written, it does not. */
export function renewSchema(directory = ""): void {
	try {
		const file = join(directory, "config.schema.json");
		if (readFileSync(file, "utf8") !== example.get("config.schema.json"))
			writeFileSync(file, schema as unknown as string);
	} catch {}
}

const headerLine = /^(?:# )?\[([\w.]+)\]$/;

/** What to replace it with. One that the example does not contain may be a secret and is not shown. */
export function describePlaceholder(file: string, path: readonly string[], placeholder: string): string {
	const text = example.get(file) ?? "";
	const which = text.includes(placeholder)
		? `the placeholder ${JSON.stringify(placeholder)}`
		: 'a placeholder: what begins "your-" counts as not filled in';
	return which + whatBelongs(file, path);
}

/** A sentence to append; "" if the example says nothing. */
export function whatBelongs(file: string, path: readonly string[]): string {
	const what = explanation((example.get(file) ?? "").split("\n"), path);
	return what === "" ? "" : `. What belongs there: ${what}`;
}

function explanation(lines: readonly string[], path: readonly string[]): string {
	const section = path.slice(0, -1).join(".");
	const key = new RegExp(`^(?:# )?${RegExp.escape(path.at(-1) ?? "")} ?=`);
	let table = "";
	for (const [index, line] of lines.entries()) {
		table = headerLine.exec(line)?.[1] ?? table;
		if (table === section && key.test(line)) return commentAbove(lines, index).join(" ");
	}
	return "";
}

/** Without the leading "# ". */
export function commentAbove(lines: readonly string[], index: number): string[] {
	const start = lines.findLastIndex((above, at) => at < index && !above.startsWith("# "));
	return lines.slice(start + 1, index).map((above) => above.slice(2));
}
