// Adds the guild of a document to the simulated Discord, with invented people, a bot, and people who have tokens. Its owner
// makes it over the REST API, so that it has what Discord would accept.

import { type GuildDocument, InvalidDocument } from "../../guild-document/format/document.ts";
import { channelsWithCategories } from "../../guild-document/format/references.ts";
import { matchDocument } from "../../guild-document/match/match.ts";
import { difference } from "../../guild-document/steps/difference.ts";
import type { Step } from "../../guild-document/steps.ts";
import { ConfigError } from "../../lib/config.ts";
import { escapeBreaks } from "../../lib/text.ts";
import { drawPicture, type Picture, recognizePicture } from "../world/guilds/pictures.ts";
import type { Account, Guild, User, Role as WorldRole } from "../world/state/entities.ts";
import { allPermissions } from "../world/state/permissions.ts";
import { isSnowflake } from "../world/state/snowflake.ts";
import type { ChosenIdKind } from "../world/state/state.ts";
import type { World } from "../world/world.ts";
import { botNameOf, botRoleOf } from "./bots.ts";
import { withFutureEvents } from "./future-events.ts";
import { describeError, describeLeft } from "./notes.ts";
import { personNamed, rolesOf } from "./people.ts";
import { type Call, type ReadState, type Reply, readState } from "./read-state.ts";
import { requirementsOf } from "./requirements.ts";

/** A guild document, and the name of its file, which messages show. */
export interface GuildFile {
	readonly file: string;
	readonly document: GuildDocument;
	/** Image files of emoji and icons, by the hashes in the document. The simulator draws those that are missing. */
	readonly pictures?: ReadonlyMap<string, Uint8Array>;
}

export interface BuildOptions {
	/** Members of each guild. Default: those that its document lists, or `defaultMembers` if it lists none. */
	readonly members?: number | undefined;
	/** Names of managed roles, one of which the bot gets. Default: the highest with moderator permissions. */
	readonly botRoles?: readonly string[] | undefined;
	/** Called with a line of text about the progress when building a guild takes long. */
	readonly progress?: ((line: string) => void) | undefined;
}

export interface DocumentGuild {
	readonly file: string;
	readonly guild: Guild;
	readonly bot: Account;
	/** How the guild differs from its document, one line of text for each difference. */
	readonly notes: readonly string[];
}

/** Default number of members of a guild whose document lists none. */
export const defaultMembers = 50;
const maxAttempts = 3;
const progressMs = 2_000;

interface Parts {
	readonly world: World;
	readonly people: readonly Account[];
	callAs(account: Account): Call;
}

/**
 * Adds a guild to the simulator that matches a guild document. Keeps ids from the document that are not in use yet.
 * Throws a ConfigError if the document is ambiguous or refers to something that does not exist.
 */
export async function buildGuild(
	{ world, people, callAs }: Parts,
	{ file, document: given, pictures: files = new Map() }: GuildFile,
	options: BuildOptions = {},
): Promise<DocumentGuild> {
	const [owner] = people;
	if (!owner) throw new Error(`cannot create the guild of ${file}: it has no owner, because no people were given`);
	const { document, notes } = withFutureEvents(withPictures(given), Date.now());
	const isFree = (id: string | undefined): id is string => id !== undefined && isSnowflake(id) && !world.guilds.get(id);
	const guild = world.guilds.add({
		name: document.settings?.name ?? nameOf(file),
		owner: owner.user,
		id: isFree(document.id) ? document.id : undefined,
	});
	const pictureOf = (hash: string) => recognizePicture(files.get(hash) ?? new Uint8Array());
	const icon = pictureOf(document.settings?.icon ?? "");
	world.guilds.edit(guild, requirementsOf(document, icon?.animated));

	let reportAt = performance.now() + progressMs;
	const { bot, added } = addManagedRoles();
	const members = addMembers();
	const call = callAs(owner);
	const pictures = new Map<string, string>();
	const read = () => readState(call, guild, pictures);
	try {
		await carryOut();
		giveRoles(await read());
	} catch (error) {
		if (error instanceof InvalidDocument) throw new ConfigError(file, error.issues);
		throw error;
	}
	for (const { id, reason } of document.bans ?? [])
		world.bans.add(guild, userWith(id), 0, { actor: owner.user.id, reason });
	// What made the guild is not what happened in it.
	guild.auditLog.length = 0;
	// They have names from the document, and are shown on a terminal.
	return { file, guild, bot, notes: notes.map(escapeBreaks) };

	function addManagedRoles(): { bot: Account; added?: WorldRole } {
		const managed = (document.roles ?? []).filter((role) => role.managed);
		const own = botRoleOf(document, managed, options.botRoles);
		const taken = Array.from(world.state.users.values(), (one) => one.username);
		const username = botNameOf(own, new Set(taken));
		const bot = world.users.addBot({ username });
		const joined = world.members.add(guild, bot.user);
		for (const role of managed) {
			choose("role", role.id);
			const { id } = world.roles.add(guild, {
				name: role.name,
				...(role === own ? { bot_id: bot.user.id } : { managed: true }),
			});
			if (role === own) joined.roles = [id];
		}
		if (own) return { bot };
		const added = world.roles.add(guild, {
			name: username,
			permissions: String(allPermissions),
			bot_id: bot.user.id,
		});
		joined.roles = [added.id];
		notes.push(
			`The document has no role of a bot that may moderate. ${username} joined with a role above all others and all permissions.`,
		);
		return { bot, added };
	}

	function report(what: string, done: number, total: number): void {
		if (performance.now() < reportAt) return;
		reportAt = performance.now() + progressMs;
		options.progress?.(`${file}: ${done} of ${total} ${what}`);
	}

	function choose(kind: ChosenIdKind, id: string | undefined): void {
		world.state.chosenIds.delete(kind);
		if (id === undefined || !isSnowflake(id)) return;
		const others: Record<ChosenIdKind, { has(id: string): boolean }> = {
			role: { has: (id) => guilds().some(({ roles }) => roles.has(id)) },
			channel: world.channels,
			emoji: { has: (id) => guilds().some(({ emojis }) => emojis.has(id)) },
			automod: listOf((one) => world.autoModeration.in(one)),
			event: listOf((one) => world.scheduledEvents.in(one)),
			webhook: world.webhooks,
		};
		if (!others[kind].has(id)) world.state.chosenIds.set(kind, id);
	}

	function guilds(): Guild[] {
		return [...world.guilds.values()];
	}

	function listOf(list: (guild: Guild) => readonly { id: string }[]) {
		return {
			has: (id: string) => guilds().some((one) => list(one).some((other) => other.id === id)),
		};
	}

	function userWith(id: string): User {
		return world.users.get(id) ?? invent(id);
	}

	function invent(id?: string): User {
		const number = world.state.users.size;
		return world.users.add({ ...personNamed(number), ...(id && { id }) });
	}

	function addMembers(): string[] {
		for (const { user } of people) world.members.add(guild, user);
		const inOverwrites = channelsWithCategories(document).flatMap(({ channel }) =>
			(channel.overwrites ?? []).flatMap(({ member }) => member ?? []),
		);
		const banned = new Set(document.bans?.map(({ id }) => id));
		const listed = document.members?.map(({ id }) => id) ?? inOverwrites;
		for (const id of new Set(listed)) if (!banned.has(id)) world.members.add(guild, userWith(id));
		const wanted = options.members ?? (document.members ? 0 : defaultMembers);
		const invented: string[] = [];
		while (guild.members.size < wanted) {
			report("members", guild.members.size, wanted);
			const user = invent();
			world.members.add(guild, user);
			invented.push(user.id);
		}
		return invented;
	}

	async function carryOut(): Promise<void> {
		const { members: _, bans: __, ...structure } = document;
		const ids = new Map<string, string>();
		const attempts = new Map<string, number>();
		const refused = new Map<string, string>();
		const { hints } = matchDocument(structure, await read());
		for (;;) {
			const { steps, refusals } = difference(structure, await read(), {
				prune: true,
				ids,
			});
			const open = steps.filter(({ id }) => !refused.has(id) && (attempts.get(id) ?? 0) < maxAttempts);
			if (open.length === 0) {
				notes.push(
					...refusals.map(({ subject, reason }) => `${subject}: ${reason}`),
					...steps
						// The order may only wait for things that were refused.
						.filter(({ action }) => action !== "order" || !steps.some((one) => one.action === "create"))
						.map((step) => describeLeft(step, refused, ids)),
				);
				return;
			}
			for (const [index, step] of open.entries()) {
				report("steps", index, open.length);
				attempts.set(step.id, (attempts.get(step.id) ?? 0) + 1);
				const reply = await send(step, ids, hints);
				if (reply.status >= 400) refused.set(step.id, describeError(reply));
			}
		}
	}

	async function send(step: Step, ids: Map<string, string>, hints: ReadonlyMap<string, string>): Promise<Reply> {
		const { method, path, body, picture } = step.request(ids);
		const { kind, placeholder = "" } = step;
		const idKind = idKinds[kind];
		if (idKind) choose(idKind, hints.get(placeholder));
		const isAnimated = document.emojis?.some((emoji) => emoji.animated && emoji.picture === picture?.hash) ?? false;
		const image = picture && (pictureOf(picture.hash) ?? drawPicture(picture.hash, isAnimated && kind === "emoji"));
		const reply = await call(method, path, image ? { ...(body as object), [picture.field]: dataUri(image) } : body);
		if (idKind) world.state.chosenIds.delete(idKind);
		const made = reply.body as { id?: string; icon?: string } | undefined;
		if (reply.status >= 400 || !made) return reply;
		if (placeholder && made.id) ids.set(placeholder, made.id);
		const pictured = kind === "emoji" ? made.id : made.icon;
		if (picture && pictured) pictures.set(pictured, picture.hash);
		return reply;
	}

	function giveRoles(state: ReadState): void {
		if (added) world.roles.move(guild, new Map([[added, guild.roles.size]]));
		const fromLowest = [...guild.roles.values()]
			.filter(({ id, managed }) => id !== guild.id && !managed)
			.sort((a, b) => a.position - b.position)
			.map(({ id }) => id);
		const give = (userId: string, roles: readonly string[]) => {
			const member = guild.members.get(userId);
			if (member && roles.length > 0) member.roles = [...new Set([...member.roles, ...roles])];
		};
		const { wanted } = matchDocument(document, state);
		const known = new Set(guild.roles.keys());
		for (const { id, roles } of wanted.members ?? [])
			give(
				id,
				roles.filter((role) => known.has(role)),
			);
		for (const [index, id] of members.entries()) {
			report("members with roles", index, members.length);
			give(id, rolesOf(index + 1, fromLowest));
		}
		// The second of the people with a token has the highest role, the third one from the middle, the fourth the lowest.
		const { length } = fromLowest;
		for (const [index, rank] of [length - 1, Math.floor(length / 2), 0].entries())
			give(people[index + 1]?.user.id ?? "", fromLowest.slice(rank, rank + 1));
	}
}

const idKinds: Partial<Record<Step["kind"], ChosenIdKind>> = {
	role: "role",
	emoji: "emoji",
	category: "channel",
	channel: "channel",
	automod: "automod",
	event: "event",
	webhook: "webhook",
};

function nameOf(file: string): string {
	const name = file.replace(/^.*[\\/]/, "").replace(/\.\w+$/, "");
	return name.padEnd(2, "_").slice(0, 100);
}

function withPictures(document: GuildDocument): GuildDocument {
	const emojis = document.emojis?.map((emoji) => ({
		...emoji,
		picture: emoji.picture || new Bun.CryptoHasher("md5").update(emoji.name).digest("hex"),
	}));
	return { ...document, ...(emojis && { emojis }) };
}

function dataUri({ format, bytes }: Picture): string {
	return `data:image/${format};base64,${Buffer.from(bytes).toString("base64")}`;
}
