// The options of the command line that start a simulator with the guilds of documents. Simulator and demo have them.

import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import * as v from "valibot";
import { type GuildDocument, InvalidDocument, readDocument } from "../../guild-document/format/document.ts";
import { pictureIn, picturesDirectoryOf, picturesIn } from "../../guild-document/read/picture.ts";
import { ConfigError, didYouMean, formatValue, integer, parseSettings } from "../../lib/config.ts";
import { type BuildOptions, defaultMembers, type GuildFile } from "./build-guild.ts";

const maxMembers = 1_000_000;
const maxFileBytes = 64 * 1024 * 1024;

export const worldOptions = {
	world: { type: "string", multiple: true },
	members: { type: "string" },
	"bot-role": { type: "string", multiple: true },
} as const;

export const worldUsage = `  --world FILE      start with the guild of this document (YAML or JSON);
                    several times: with several guilds, each with a bot
  --members N       members of each of these guilds, invented except for those
                    in its document (default: those, or ${defaultMembers} if it lists none)
  --bot-role NAME   the role of your bot in a document; several times for several
                    documents (default: the highest role of a bot that may moderate)`;

export interface Worlds {
	worlds: readonly GuildFile[];
	worldOptions: BuildOptions;
}

export async function readWorlds(given: {
	world?: readonly string[] | undefined;
	members?: string | undefined;
	"bot-role"?: readonly string[] | undefined;
}): Promise<Worlds> {
	const { settings, issues } = parseSettings(v.object({ members: v.optional(integer(0, maxMembers)) }), given);
	if (!settings) throw new ConfigError("the command line", issues);
	const { world: files = [], "bot-role": botRoles } = given;
	if (files.length === 0 && (given.members ?? botRoles) !== undefined)
		throw new ConfigError("the command line", [
			`${given.members === undefined ? "bot-role" : "members"}: needs --world FILE`,
		]);
	const read = await Promise.all(files.map(readWorld));
	const wrong = read.filter((one) => "issues" in one);
	const [first, ...others] = wrong;
	if (first && others.length === 0) throw new ConfigError(first.file, first.issues);
	if (first)
		throw new ConfigError(
			"--world",
			wrong.flatMap(({ file, issues }) => issues.map((issue) => `${file}: ${issue}`)),
		);
	const worlds = read.filter((one) => "document" in one);
	const managed = worlds.flatMap(({ document }) =>
		(document.roles ?? []).flatMap((role) => (role.managed ? role.name : [])),
	);
	const unknown = botRoles?.filter((name) => !managed.includes(name)) ?? [];
	if (unknown.length > 0)
		throw new ConfigError(
			"the command line",
			unknown.map(
				(name) =>
					`bot-role: none of the guild documents given with --world has a managed role ${formatValue(name)}${didYouMean(name, managed)}`,
			),
		);
	return { worlds, worldOptions: { members: settings.members, botRoles } };
}

async function readWorld(file: string): Promise<GuildFile | { file: string; issues: readonly string[] }> {
	try {
		const { size } = await stat(file);
		if (size > maxFileBytes) return { file, issues: [`it has more than ${maxFileBytes} bytes`] };
		const document = readDocument(await Bun.file(file).text());
		const { pictures, issues } = readPictures(file, document);
		return issues.length > 0 ? { file, issues } : { file, document, pictures };
	} catch (error) {
		if (error instanceof InvalidDocument) return { file, issues: error.issues };
		const { code = String(error) } = error as NodeJS.ErrnoException;
		const reason = code === "ENOENT" ? "there is no such file" : code;
		return { file, issues: [`it cannot be read: ${reason}`] };
	}
}

function readPictures(file: string, document: GuildDocument) {
	const directory = picturesDirectoryOf(file);
	const pictures = new Map<string, Uint8Array>();
	const issues: string[] = [];
	for (const hash of existsSync(directory) ? picturesIn(document) : []) {
		const found = pictureIn(directory, hash);
		if (found && "bytes" in found) pictures.set(hash, found.bytes);
		else if (found) issues.push(found.issue);
	}
	return { pictures, issues };
}
