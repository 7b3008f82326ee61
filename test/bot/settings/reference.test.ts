// The table of keys in the README is that of the code. `bun run reference` writes it.

import { expect, test } from "bun:test";
import { join } from "node:path";
import * as v from "valibot";
import { allKeys, keyOf, kindOf } from "../../../src/bot/settings/keys.ts";
import { render, said } from "../../../src/texts/texts.ts";

const readmeFile = join(import.meta.dir, "../../../src/bot/settings/README.md");
const marker = "## Keys\n\n";

function table(): string {
	const rows = allKeys.map((key) => {
		const { value, to } = keyOf(key);
		const standard: unknown = v.getDefault(value as never);
		const kind =
			kindOf(key) === "named roles"
				? "given role by name"
				: (to ?? (typeof standard === "boolean" ? "true or false" : ""));
		const shown = standard === undefined ? "none" : `\`${JSON.stringify(standard)}\``;
		return `| \`${key}\` | ${kind} | ${shown} | ${render(said(`setting.${key}`), "en")} |`;
	});
	return ["| key | kind | default | meaning |", "| --- | --- | --- | --- |", ...rows, ""].join("\n");
}

test("the README has a row for each key", async () => {
	const [text = ""] = (await Bun.file(readmeFile).text()).split(marker);
	const expected = `${text}${marker}${table()}`;
	if (process.env.WRITE_REFERENCE) await Bun.write(readmeFile, expected);
	// When this fails: bun run reference.
	expect(await Bun.file(readmeFile).text()).toBe(expected);
});
