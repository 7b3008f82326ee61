// The command line options for guild documents: `--help` is made from them, and the command is read from their values.

import type { parseArgs } from "node:util";
import { type Part, partNames } from "../../../guild-document/format/document.ts";
import { didYouMean } from "../../../lib/config.ts";
import { maxDocumentBytes } from "./requests.ts";

/** For `parseArgs`; `value` (a placeholder) and the description are for `--help`. */
export const guildFileOptions = {
	"export-guild": {
		type: "string",
		value: "<file>",
		description: "write a guild as a document to a new file, .yaml or .json, or to standard output for -",
	},
	"plan-guild": {
		type: "string",
		value: "<file>",
		description: `show what would change so that the guild matches a document: a file of up to ${maxDocumentBytes / 1024 / 1024} MiB, or - for standard input`,
	},
	"apply-guild": {
		type: "string",
		value: "<file>",
		description: "show the same, ask, and change the guild; runs until that is done",
	},
	guild: { type: "string", value: "<id>", description: "id of the guild for these three (default: GUILD_ID)" },
	part: {
		type: "string",
		multiple: true,
		value: "<name>",
		description: `only this part of the document; may be repeated: ${partNames.join(", ")}`,
	},
	backup: {
		type: "string",
		value: "<name>",
		description:
			'for --export-guild: a backup instead of the guild, such as 12, latest, or 12 of another guild as "<guild id>/12"',
	},
	prune: {
		type: "boolean",
		description: "for --plan-guild and --apply-guild: delete what the parts of the document do not list",
	},
	force: { type: "boolean", description: "for --export-guild: replace the file if there is one" },
	yes: { type: "boolean", description: "for --apply-guild: do not ask before it starts" },
} as const;

/** For `--help`. */
export const guildFileRows = Object.entries(guildFileOptions).map(
	([name, option]) => [`--${name}${"value" in option ? ` ${option.value}` : ""}`, option.description] as const,
);

export type GuildFileCommand = NonNullable<ReturnType<typeof guildFileCommand>>;

export type GuildFileValues = ReturnType<typeof parseArgs<{ options: typeof guildFileOptions }>>["values"];

/** Options that are invalid or cannot be combined; the message is for the operator. */
export class UsageError extends Error {
	override name = "UsageError";
}

/** Undefined if the command line has no such command. Throws a UsageError. */
export function guildFileCommand(values: GuildFileValues) {
	const actions = (["export", "plan", "apply"] as const).filter((action) => values[`${action}-guild`] !== undefined);
	const [action] = actions;
	if (!action) {
		const alone = (["guild", "part", "backup", "prune", "force"] as const).find((name) => values[name] !== undefined);
		if (alone) throw new UsageError(`--${alone} needs --export-guild, --plan-guild or --apply-guild`);
		return undefined;
	}
	if (actions.length > 1) throw new UsageError(`--${action}-guild and --${actions[1]}-guild exclude each other`);
	const file = values[`${action}-guild`] ?? "";
	if (file === "") throw new UsageError(`--${action}-guild: expected a file`);
	const refuse = (name: "backup" | "prune" | "force", fits: boolean) => {
		if (values[name] !== undefined && !fits) throw new UsageError(`--${name} has no effect with --${action}-guild`);
	};
	refuse("backup", action === "export");
	refuse("force", action === "export");
	refuse("prune", action !== "export");
	if (values.guild !== undefined && !/^\d{17,20}$/.test(values.guild))
		throw new UsageError(`--guild: expected a Discord id of 17 to 20 digits, received ${JSON.stringify(values.guild)}`);
	return {
		action,
		/** "-" for standard input or output. */
		file,
		guildId: values.guild,
		parts: values.part?.map(partNamed),
		backup: values.backup,
		prune: values.prune ?? false,
		force: values.force ?? false,
		/** Change the guild without asking. */
		yes: values.yes ?? false,
	};
}

function partNamed(name: string): Part {
	const part = partNames.find((part) => part === name);
	if (part) return part;
	throw new UsageError(
		`--part: ${JSON.stringify(name)} is no part of a document${didYouMean(name, partNames)}; expected ${partNames.join(", ")}`,
	);
}
