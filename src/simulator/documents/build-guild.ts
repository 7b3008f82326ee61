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
import type { Account, Guild, User } from "../world/state/entities.ts";
import { allPermissions } from "../world/state/permissions.ts";
import { isSnowflake } from "../world/state/snowflake.ts";
import type { World } from "../world/world.ts";
import { botNameOf, botRoleOf, personNamed, rolesOf } from "./people.ts";
import { type Call, describeError, describeLeft, type ReadState, readState } from "./read-state.ts";
import { requirementsOf, withFutureEvents } from "./requirements.ts";

export interface GuildFile {
	file: string;
	document: GuildDocument;
	/** Image files of emoji and icons, by the hashes in the document. The simulator draws those that are missing. */
	pictures?: ReadonlyMap<string, Uint8Array>;
}

export interface BuildOptions {
	/** Members of each guild. Default: those that its document lists, or `defaultMembers` if it lists none. */
	members?: number | undefined;
	/** Names of managed roles, one of which the bot gets. Default: the highest with moderator permissions. */
	botRoles?: readonly string[] | undefined;
	/** Id of the bot, as the document has it in overwrites and members. Default: a new one. */
	botId?: string | undefined;
	/** Called with a line of text about the progress when building a guild takes long. */
	progress?: ((line: string) => void) | undefined;
}

export interface DocumentGuild {
	file: string;
	guild: Guild;
	bot: Account;
	/** How the guild differs from its document, one line of text for each difference. */
	notes: readonly string[];
}

export const defaultMembers = 50;
const maxAttempts = 3;
const progressMs = 2_000;

/** Keeps ids that are free. ConfigError if the document is ambiguous or refers to something that does not exist. */
export async function buildGuild(
	world: World,
	callAs: (account: Account) => Call,
	given: GuildFile,
	options: BuildOptions = {},
): Promise<DocumentGuild> {
	const [owner] = world.users.people;
	const { file } = given;
	if (!owner) throw new Error(`cannot create the guild of ${file}: it has no owner, because no people were given`);
	try {
		return await new GuildBuilder(world, owner, callAs(owner), given, options).build();
	} catch (error) {
		if (error instanceof InvalidDocument) throw new ConfigError(file, error.issues);
		throw error;
	}
}

class GuildBuilder {
	readonly #file: string;
	readonly #files: ReadonlyMap<string, Uint8Array>;
	readonly #document: GuildDocument;
	readonly #notes: string[];
	readonly #guild: Guild;
	/** The document's hash of each picture, by the id of its emoji or Discord's hash of the icon. */
	readonly #pictures = new Map<string, string>();
	/** What the requests have created, by placeholder. */
	readonly #ids = new Map<string, string>();
	readonly #refused = new Map<string, string>();
	#reportAt = performance.now() + progressMs;

	constructor(
		private readonly world: World,
		private readonly owner: Account,
		private readonly call: Call,
		{ file, document: given, pictures = new Map() }: GuildFile,
		private readonly options: BuildOptions,
	) {
		this.#file = file;
		this.#files = pictures;
		const emojis = given.emojis?.map((emoji) => ({
			...emoji,
			picture: emoji.picture || new Bun.CryptoHasher("md5").update(emoji.name).digest("hex"),
		}));
		const { document, notes } = withFutureEvents({ ...given, ...(emojis && { emojis }) }, Date.now());
		this.#document = document;
		this.#notes = notes;
		const { id = "", settings } = document;
		const fileName = file.replace(/^.*[\\/]/, "").replace(/\.\w+$/, "");
		this.#guild = world.guilds.add({
			name: settings?.name ?? fileName.padEnd(2, "_").slice(0, 100),
			owner: owner.user,
			id: isSnowflake(id) && !world.guilds.get(id) ? id : undefined,
		});
		world.guilds.edit(this.#guild, requirementsOf(document, this.#pictureOf(settings?.icon ?? "")?.animated));
	}

	async build(): Promise<DocumentGuild> {
		const { bot, added } = this.#addManagedRoles();
		const invented = this.#addMembers();
		await this.#carryOut();
		if (added) this.world.roles.move(this.#guild, new Map([[added, this.#guild.roles.size]]));
		this.#giveRoles(await this.#read(), invented);
		for (const { id, reason } of this.#document.bans ?? [])
			this.world.bans.add(this.#guild, this.#userWith(id), 0, { actor: this.owner.user.id, reason });
		// What made the guild is not what happened in it.
		this.#guild.auditLog.length = 0;
		// They have names from the document, and are shown on a terminal.
		return { file: this.#file, guild: this.#guild, bot, notes: this.#notes.map(escapeBreaks) };
	}

	#read(): Promise<ReadState> {
		return readState(this.call, this.#guild, this.#pictures);
	}

	#pictureOf(hash: string): Picture | undefined {
		return recognizePicture(this.#files.get(hash) ?? new Uint8Array());
	}

	#addManagedRoles() {
		const world = this.world;
		const managed = (this.#document.roles ?? []).filter((role) => role.managed);
		const own = botRoleOf(this.#document, managed, this.options.botRoles);
		const username = botNameOf(own, new Set(Array.from(world.state.users.values(), (one) => one.username)));
		const bot = world.users.addBot({ username, id: this.options.botId });
		const joined = world.members.add(this.#guild, bot.user);
		for (const role of managed) {
			this.#choose(role.id);
			const owner = role === own ? { bot_id: bot.user.id } : { managed: true };
			const { id } = world.roles.add(this.#guild, { name: role.name, ...owner });
			if (role === own) joined.roles = [id];
		}
		if (own) return { bot };
		const added = world.roles.add(this.#guild, {
			name: username,
			permissions: String(allPermissions),
			bot_id: bot.user.id,
		});
		joined.roles = [added.id];
		this.#notes.push(
			`The document has no role of a bot that may moderate. ${username} joined with a role above all others and all permissions.`,
		);
		return { bot, added };
	}

	#report(what: string, done: number, total: number): void {
		if (performance.now() < this.#reportAt) return;
		this.#reportAt = performance.now() + progressMs;
		this.options.progress?.(`${this.#file}: ${done} of ${total} ${what}`);
	}

	/** The next thing gets the document's id, unless another one has it. */
	#choose(id = ""): void {
		const { state, guilds, autoModeration, scheduledEvents, channels, webhooks } = this.world;
		const isUsed = (guild: Guild) =>
			[guild.roles, guild.emojis].some((things) => things.has(id)) ||
			[...autoModeration.in(guild), ...scheduledEvents.in(guild)].some((one) => one.id === id);
		const isFree = !channels.has(id) && !webhooks.has(id) && ![...guilds.values()].some(isUsed);
		state.chosenId = isSnowflake(id) && isFree ? id : undefined;
	}

	#userWith(id: string): User {
		return this.world.users.get(id) ?? this.#invent(id);
	}

	#invent(id?: string): User {
		return this.world.users.add({ ...personNamed(this.world.state.users.size), ...(id && { id }) });
	}

	#addMembers(): string[] {
		const { members, bans } = this.#document;
		const add = (user: User) => this.world.members.add(this.#guild, user);
		for (const { user } of this.world.users.people) add(user);
		const inOverwrites = channelsWithCategories(this.#document).flatMap(({ channel }) =>
			(channel.overwrites ?? []).flatMap(({ member }) => member ?? []),
		);
		const banned = new Set(bans?.map(({ id }) => id));
		const listed = new Set(members?.map(({ id }) => id) ?? inOverwrites);
		for (const id of listed.difference(banned)) add(this.#userWith(id));
		const wanted = this.options.members ?? (members ? 0 : defaultMembers);
		const invented: string[] = [];
		while (this.#guild.members.size < wanted) {
			this.#report("members", this.#guild.members.size, wanted);
			invented.push(add(this.#invent()).user.id);
		}
		return invented;
	}

	async #carryOut(): Promise<void> {
		const { members: _, bans: __, ...structure } = this.#document;
		const attempts = new Map<string, number>();
		const { hints } = matchDocument(structure, await this.#read());
		for (;;) {
			const { steps, refusals } = difference(structure, await this.#read(), { prune: true, ids: this.#ids });
			const open = steps.filter(({ id }) => !this.#refused.has(id) && (attempts.get(id) ?? 0) < maxAttempts);
			if (open.length === 0) {
				this.#notes.push(
					...refusals.map(({ subject, reason }) => `${subject}: ${reason}`),
					...steps
						// The order may only wait for things that were refused.
						.filter(({ action }) => action !== "order" || !steps.some((one) => one.action === "create"))
						.map((step) => describeLeft(step, this.#refused, this.#ids)),
				);
				return;
			}
			for (const [index, step] of open.entries()) {
				this.#report("steps", index, open.length);
				attempts.set(step.id, (attempts.get(step.id) ?? 0) + 1);
				await this.#send(step, hints);
			}
		}
	}

	async #send({ id, kind, placeholder = "", request }: Step, hints: ReadonlyMap<string, string>): Promise<void> {
		const { method, path, body, picture } = request(this.#ids);
		this.#choose(hints.get(placeholder));
		const { emojis } = this.#document;
		const isAnimated = emojis?.some((emoji) => emoji.animated && emoji.picture === picture?.hash) ?? false;
		const image =
			picture && (this.#pictureOf(picture.hash) ?? drawPicture(picture.hash, isAnimated && kind === "emoji"));
		const uri = image && `data:image/${image.format};base64,${Buffer.from(image.bytes).toString("base64")}`;
		const reply = await this.call(method, path, image ? { ...(body as object), [picture.field]: uri } : body);
		if (reply.status >= 400) {
			this.#refused.set(id, describeError(reply));
			return;
		}
		const made = Object(reply.body) as { id?: string; icon?: string };
		if (placeholder && made.id) this.#ids.set(placeholder, made.id);
		const pictured = kind === "emoji" ? made.id : made.icon;
		if (picture && pictured) this.#pictures.set(pictured, picture.hash);
	}

	#giveRoles(state: ReadState, invented: readonly string[]): void {
		const { roles: all, members } = this.#guild;
		const fromLowest = [...all.values()]
			.filter(({ id, managed }) => id !== this.#guild.id && !managed)
			.sort((a, b) => a.position - b.position)
			.map(({ id }) => id);
		const give = (userId: string, roles: readonly string[]) => {
			const member = members.get(userId);
			if (member) member.roles = [...new Set([...member.roles, ...roles])];
		};
		const { wanted } = matchDocument(this.#document, state);
		for (const { id, roles } of wanted.members ?? [])
			give(
				id,
				roles.filter((role) => all.has(role)),
			);
		for (const [index, id] of invented.entries()) {
			this.#report("members with roles", index, invented.length);
			give(id, rolesOf(index + 1, fromLowest));
		}
		// The second of the people with a token has the highest role, the third one from the middle, the fourth the lowest.
		const { length } = fromLowest;
		for (const [index, rank] of [length - 1, Math.floor(length / 2), 0].entries())
			give(this.world.users.people[index + 1]?.user.id ?? "", fromLowest.slice(rank, rank + 1));
	}
}
