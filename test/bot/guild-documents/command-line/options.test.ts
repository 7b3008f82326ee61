// The command line of the commands for guild documents.

import { expect, test } from "bun:test";
import { parseArgs } from "node:util";
import {
	guildFileCommand,
	guildFileOptions,
	UsageError,
} from "../../../../src/bot/guild-documents/command-line/options.ts";

function commandOf(...args: string[]) {
	const { values } = parseArgs({ args, options: guildFileOptions });
	return guildFileCommand(values);
}

test("a command line without a file is none of these commands", () => {
	expect(commandOf()).toBeUndefined();
	expect(commandOf("--yes")).toBeUndefined();
});

test("the file, the parts and the flags are read", () => {
	const id = "123456789012345678";
	expect(
		commandOf(
			...["--export-guild", "-", "--guild", id, "--backup=latest", "--force"],
			...["--part", "roles", "--part=channels"],
		),
	).toEqual({
		action: "export",
		file: "-",
		guildId: id,
		parts: ["roles", "channels"],
		backup: "latest",
		prune: false,
		force: true,
		yes: false,
	});
	expect(commandOf("--apply-guild=a.yaml", "--prune", "--yes")).toMatchObject({
		action: "apply",
		file: "a.yaml",
		guildId: undefined,
		parts: undefined,
		prune: true,
		yes: true,
	});
});

test.each([
	[["--guild", "1"], "--guild needs --export-guild"],
	[["--prune"], "--prune needs"],
	[["--export-guild=a", "--plan-guild=b"], "exclude each other"],
	[["--plan-guild="], "expected a file"],
	[["--plan-guild=a", "--backup=1"], "--backup has no effect"],
	[["--plan-guild=a", "--force"], "--force has no effect"],
	[["--export-guild=a", "--prune"], "--prune has no effect"],
	[["--plan-guild=a", "--guild=me"], "expected a Discord id"],
	[["--plan-guild=a", "--part=role"], "did you mean roles?"],
])("%j is refused", (args, message) => {
	expect(() => commandOf(...args)).toThrow(UsageError);
	expect(() => commandOf(...args)).toThrow(message);
});
