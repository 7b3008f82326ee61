// By which invite people join: Discord does not tell, so the uses of all invites are compared before and after joins. One
// reading serves all joins of a second. What is not certain is stored as such, and nothing is guessed.

import {
	type APIExtendedInvite,
	type Client,
	Events,
	type Guild,
	type GuildMember,
	PermissionFlagsBits,
	Routes,
} from "discord.js";
import { onSessionOrGuild } from "../../discord/connection/session-events.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import { inBackground } from "../../discord/rest/rest.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { sleep } from "../../lib/wait.ts";
import type { FeatureOptions, Part } from "../commands/feature.ts";
import { joinRows } from "../store/tables/joins.ts";

/** Readings after which joins that do not pause are attributed as far as possible. */
const maxReadings = 5;

/** Of invites, by code. */
type Uses = ReadonlyMap<string, number>;

interface Watched {
	uses?: Uses | undefined;
	joins: GuildMember[];
	work?: Promise<void> | undefined;
}

export class InviteWatch implements Part {
	readonly #guilds = new Map<string, Watched>();
	readonly #closing = new AbortController();

	/** Pauses between the last join and a reading, and between the reading and its use. */
	constructor(
		private readonly options: Pick<FeatureOptions, "connection" | "store" | "log">,
		private readonly quietMs = 1000,
	) {}

	attach(client: Client): void {
		const begin = (guild: Guild) => {
			const known = this.#guilds.get(guild.id);
			if (known?.work && known.joins.length === 0) return;
			const watched: Watched = { joins: [] };
			this.#guilds.set(guild.id, watched);
			watched.work = this.#run(guild, watched, async () => {
				watched.uses = await readUses(guild);
			});
		};
		onSessionOrGuild(client, () => this.options.connection.guilds.forEach(begin), begin);
		client.on(Events.GuildDelete, ({ id }) => this.#guilds.delete(id));
		client.on(Events.GuildMemberRemove, ({ guild, id: user_id }) => {
			const { store, log } = this.options;
			joinRows
				.delete(store.sql, { guild_id: guild.id, user_id })
				.catch((error) => log.warn("could not delete the invite of a member who left", { guild: guild.id, error }));
		});
		client.on(Events.GuildMemberAdd, (member) => {
			const { guild, user } = member;
			const watched = this.#guilds.get(guild.id);
			// A join while the first uses are read may be among them.
			if (user.bot || !watched || (watched.work && watched.joins.length === 0)) return;
			watched.joins.push(member);
			watched.work ??= this.#run(guild, watched, () => this.#attribute(guild, watched));
		});
	}

	/** Never rejects. */
	async #run({ id: guild }: Guild, watched: Watched, work: () => Promise<void>): Promise<void> {
		try {
			await work();
		} catch (error) {
			if (this.#closing.signal.aborted) return;
			const reason = (error instanceof ToolError ? error : toToolError(error))?.message;
			if (reason) this.options.log.warn("could not record the invites of joins", { guild, reason });
			else this.options.log.error("could not record the invites of joins: internal error", { guild, error });
		} finally {
			watched.joins = [];
			watched.work = undefined;
		}
	}

	async #attribute(guild: Guild, watched: Watched): Promise<void> {
		const { signal } = this.#closing;
		const before = watched.uses;
		let isQuiet = false;
		for (let reading = 0; reading < maxReadings && !isQuiet; reading += 1) {
			await sleep(this.quietMs, signal);
			const { length } = watched.joins;
			// If it fails, nothing is known until the next connection.
			watched.uses = undefined;
			watched.uses = await readUses(guild);
			await sleep(this.quietMs, signal);
			isQuiet = watched.joins.length === length;
		}
		if (!before || !watched.uses) return;
		const invites = invitesOfJoins(before, watched.uses, { joins: watched.joins.length, isQuiet }).join();
		const all = { guild_id: guild.id, invites };
		const rowOf = ({ id, joinedTimestamp }: GuildMember) => ({ ...all, user_id: id, joined_at: joinedTimestamp ?? 0 });
		if (invites !== "?") await joinRows.save(this.options.store.sql, watched.joins.map(rowOf));
	}

	async close(): Promise<void> {
		this.#closing.abort();
		await Promise.all([...this.#guilds.values()].map(({ work }) => work));
	}
}

/** Undefined without MANAGE_GUILD. https://docs.discord.com/developers/resources/guild#get-guild-invites */
export async function readInvites(guild: Guild): Promise<APIExtendedInvite[] | undefined> {
	if (!guild.members.me?.permissions.has(PermissionFlagsBits.ManageGuild)) return undefined;
	return (await guild.client.rest.get(Routes.guildInvites(guild.id))) as APIExtendedInvite[];
}

async function readUses(guild: Guild): Promise<Uses | undefined> {
	const invites = await inBackground(() => readInvites(guild));
	return invites && new Map(invites.map(({ code, uses = 0 }) => [code, uses]));
}

/**
 * The codes of which each of the joins used one. With "?", another way is possible, too: the vanity link, Server
 * Discovery, or a join that was not seen. `isQuiet`: no one joined shortly before and after the second reading.
 */
export function invitesOfJoins(
	before: Uses,
	after: Uses,
	{ joins, isQuiet }: { joins: number; isQuiet: boolean },
): string[] {
	const added = [...after].map(([code, uses]) => ({ code, count: uses - (before.get(code) ?? 0) }));
	const used = added.filter(({ count }) => count > 0);
	const codes = used.map(({ code }) => code);
	const sum = used.reduce((all, { count }) => all + count, 0);
	if (isQuiet && sum === joins) return codes;
	// Discord deletes an invite with its last use.
	const gone = [...before.keys()].filter((code) => !after.has(code));
	return [...codes, ...gone, "?"];
}
