// Everyone who joins gets a role: at once, or when they have passed the membership screening. Who joined while the bot was
// away gets it when it is back: the store says until when all were looked after, and to whom the role is still owed.

import { type Client, Events, type GuildMember, Routes } from "discord.js";
import type { Feature, FeatureOptions } from "../commands/feature.ts";
import { StoreUnavailable } from "../store/db-error.ts";
import {
	type OwedRow,
	saveJoinRoleNotes,
	selectJoinRoleNotes,
} from "../store/join-roles.ts";
import {
	createIsRestricted,
	guildWithRole,
	RoleWriter,
	rolesFault,
} from "./role-writer.ts";

/** Discord may tell of people who joined at the same time in another order than that in which they did. */
const toleranceMs = 5_000;
/** How long a write under way is waited for at the end, and then the last note. */
const farewellMs = 1_500;
/** After how many roles given the log says how far it is. */
const tellEvery = 100;

export interface JoinRoleTiming {
	/** How often it is looked whether somebody was missed, or may have the role by now. */
	lookMs: number;
	/** How often it is noted in the store how far it is. */
	noteMs: number;
	/** Waits after failures: doubled each time, up to the second number. */
	backOffMs?: readonly [number, number];
}

/** The feature, as `[join_role]` has it; undefined where it is off. */
export function createJoinRole(
	options: FeatureOptions,
	timing: JoinRoleTiming = { lookMs: 1_000, noteMs: 10_000 },
): Feature | undefined {
	const { features, join_role } = options.config.toml;
	if (!features.join_role || !join_role) return undefined;
	return new JoinRole(options, join_role.role, timing);
}

/** Those to whom the role is owed, by id, and when they joined. */
type Owed = Map<string, number>;

class JoinRole implements Feature {
	readonly #options: FeatureOptions;
	readonly #roleId: string;
	readonly #timing: JoinRoleTiming;
	readonly #isRestricted;
	readonly #closing = new AbortController();
	readonly #writer: RoleWriter;
	/** Who can have it now, oldest first. Whoever leaves is taken out, so there are never more than members. */
	readonly #queue: Owed = new Map();
	/** Who has the membership screening before them, or is set apart at the moment. */
	readonly #waiting: Owed = new Map();
	/** What the store has of both; undefined until it was read. */
	#noted: Map<string, number> | undefined;
	/** Who joined until then is in neither, or was given the role; undefined until the store was read. */
	#joinedUntil: number | undefined;
	#notedUntil: number | undefined;
	/** Whether somebody may have joined without our having heard of it. */
	#unsure = true;
	#given = 0;
	#said: string | undefined;
	#working: Promise<void> | undefined;
	#looking: Promise<void> | undefined;
	#timer: Timer | undefined;
	#nextNote = 0;
	readonly #count;

	constructor(options: FeatureOptions, roleId: string, timing: JoinRoleTiming) {
		this.#options = options;
		this.#roleId = roleId;
		this.#timing = timing;
		this.#isRestricted = createIsRestricted(options);
		this.#writer = new RoleWriter(this.#closing.signal, timing.backOffMs);
		this.#count = options.registry?.counter(
			"guildhall_bot_join_roles_total",
			"Roles given to those who joined, by outcome.",
			["outcome"],
		);
		options.registry?.gauge(
			"guildhall_bot_join_roles_owed",
			"Members who joined and have yet to be given the role.",
			[],
			() => [[[], this.#queue.size + this.#waiting.size]],
		);
	}

	attach(client: Client): void {
		const doubt = () => {
			this.#unsure = true;
		};
		client.on(Events.ClientReady, doubt);
		client.on(Events.ShardReconnecting, doubt);
		client.on(Events.ShardReady, doubt);
		client.on(Events.GuildMemberAdd, (member) => {
			if (!this.#isMeant(member)) return;
			this.#owe(member);
			// In doubt, those who joined before may not be known yet.
			if (!this.#unsure && this.#joinedUntil !== undefined)
				this.#joinedUntil = Math.max(this.#joinedUntil, joinedAt(member));
			this.#work();
		});
		client.on(Events.GuildMemberUpdate, (_, member) => {
			const since = this.#waiting.get(member.id);
			if (since === undefined || member.pending) return;
			this.#owe(member, since);
			this.#work();
		});
		client.on(Events.GuildMemberRemove, ({ id, guild }) => {
			if (guild.roles.cache.has(this.#roleId)) this.#settle(id);
		});
	}

	start(): void {
		this.#timer = setInterval(() => this.#look(), this.#timing.lookMs);
	}

	async close(): Promise<void> {
		clearInterval(this.#timer);
		this.#closing.abort();
		const over = Promise.all([this.#working, this.#looking]);
		await Promise.race([over, Bun.sleep(farewellMs)]);
		// Without it the next start looks through more people, and finds the same.
		const noted = this.#note().catch(() => {});
		await Promise.race([noted, Bun.sleep(farewellMs)]);
	}

	/** Whether it is someone of the guild that has the role, and no bot. */
	#isMeant({ guild, user }: GuildMember): boolean {
		return !user.bot && guild.roles.cache.has(this.#roleId);
	}

	#owe(member: GuildMember, since = joinedAt(member)): void {
		this.#settle(member.id);
		(member.pending ? this.#waiting : this.#queue).set(member.id, since);
	}

	/** They are owed nothing any more. */
	#settle(id: string): void {
		this.#queue.delete(id);
		this.#waiting.delete(id);
	}

	/** Looks after those who wait, and who was missed; notes how far it is. Never rejects. */
	#look(): void {
		this.#looking ??= this.#lookOnce()
			.catch((error) => {
				if (!(error instanceof StoreUnavailable))
					this.#options.log.error("could not look who has joined", { error });
			})
			.finally(() => {
				this.#looking = undefined;
			});
	}

	async #lookOnce(): Promise<void> {
		this.#work();
		if (this.#unsure || this.#joinedUntil === undefined) await this.#catchUp();
		if (performance.now() < this.#nextNote) return;
		this.#nextNote = performance.now() + this.#timing.noteMs;
		this.#retry();
		await this.#note();
	}

	/** Those who waited and may have it now. */
	#retry(): void {
		const guild = this.#guild();
		for (const [id, since] of this.#waiting) {
			const member = guild?.members.cache.get(id);
			if (member && !member.pending) this.#owe(member, since);
		}
		this.#work();
	}

	#guild() {
		return guildWithRole(this.#options.connection, this.#roleId);
	}

	/** Finds who joined unnoticed, once all members are known. Rejects with StoreUnavailable. */
	async #catchUp(): Promise<void> {
		const { connection, store, log } = this.#options;
		const guild = this.#guild();
		if (!guild) {
			const isKnown = connection.guilds.every(({ available }) => available);
			if (connection.state.connected && isKnown)
				this.#say(`no guild of the bot's has a role ${this.#roleId}`);
			return;
		}
		if (!connection.knowsMembers(guild)) return;
		if (this.#noted === undefined) {
			const { joinedUntil, owed } = await selectJoinRoleNotes(
				store.sql,
				guild.id,
			);
			this.#noted = new Map(owed.map((row) => [row.user_id, row.joined_at]));
			this.#notedUntil = joinedUntil;
			this.#joinedUntil = joinedUntil;
		}
		// Meanwhile the connection may have been lost.
		if (!connection.knowsMembers(guild)) return;
		this.#unsure = false;
		const people = [...guild.members.cache.values()].filter(
			({ user }) => !user.bot,
		);
		const missed = people
			.filter((member) => this.#wasMissed(member))
			.sort((one, other) => joinedAt(one) - joinedAt(other));
		// They came before those who have been heard of since.
		const heard = [...this.#queue];
		this.#queue.clear();
		for (const member of missed) this.#owe(member);
		for (const [id, since] of heard) this.#queue.set(id, since);
		// The bot itself is a member, so that there is a time even where there are no people.
		const latest = people.reduce(
			(time, member) => Math.max(time, joinedAt(member)),
			this.#joinedUntil ?? guild.joinedTimestamp,
		);
		// Nobody who was there before the first note is to seem to have joined after it.
		if (this.#joinedUntil === undefined) this.#nextNote = 0;
		this.#joinedUntil ??= latest + toleranceMs;
		this.#joinedUntil = Math.max(this.#joinedUntil, latest);
		if (missed.length > 0)
			log.info("people joined unnoticed, and get their role now", {
				guild: guild.id,
				people: missed.length,
			});
		this.#work();
	}

	/** Before the first note, nobody was: who was there already is none of those who join. */
	#wasMissed(member: GuildMember): boolean {
		const { id, roles } = member;
		if (this.#queue.has(id) || this.#waiting.has(id)) return false;
		if (this.#noted?.get(id) === joinedAt(member))
			return !roles.cache.has(this.#roleId);
		if (this.#joinedUntil === undefined) return false;
		if (joinedAt(member) <= this.#joinedUntil - toleranceMs) return false;
		// Who has one was given it by someone, who may have meant it to be the only one. @everyone counts, too.
		return roles.cache.every(
			(role) => role.managed || role.id === member.guild.id,
		);
	}

	/** Writes down what has changed. Nothing is noted before all is known that came before it. */
	async #note(): Promise<void> {
		const noted = this.#noted;
		const joinedUntil = this.#joinedUntil;
		const guildId = this.#guildId;
		if (!noted || joinedUntil === undefined || !guildId) return;
		const now = new Map([...this.#queue, ...this.#waiting]);
		const owed: OwedRow[] = [];
		for (const [id, since] of now)
			if (noted.get(id) !== since) owed.push({ user_id: id, joined_at: since });
		const settled = [...noted.keys()].filter((id) => !now.has(id));
		const isNews = joinedUntil !== this.#notedUntil;
		if (!isNews && owed.length + settled.length === 0) return;
		// Those of whom nobody told may be among them.
		if (this.#unsure) return;
		await saveJoinRoleNotes(this.#options.store, guildId, {
			joinedUntil,
			owed,
			settled,
		});
		this.#noted = now;
		this.#notedUntil = joinedUntil;
	}

	/** Gives it to one after the other. */
	#work(): void {
		this.#working ??= this.#workOff()
			.catch((error) => {
				this.#writer.holdBack();
				this.#options.log.error("could not give a role", { error });
			})
			.finally(() => {
				this.#working = undefined;
			});
	}

	async #workOff(): Promise<void> {
		const { log } = this.#options;
		while (this.#queue.size > 0 && (await this.#writer.ready())) {
			const [first] = this.#queue;
			// Whoever it was may have left meanwhile.
			if (!first) return;
			const [id, since] = first;
			const outcome = await this.#give(id);
			if (outcome === "later") return;
			// They may have left and come back.
			if (this.#queue.get(id) !== since) continue;
			this.#queue.delete(id);
			if (outcome === "wait") this.#waiting.set(id, since);
			if (outcome === "again") this.#queue.set(id, since);
			if (outcome !== "given") continue;
			this.#given += 1;
			if (this.#given % tellEvery === 0)
				log.info("roles given to those who joined", {
					given: this.#given,
					left: this.#queue.size,
				});
		}
	}

	/** "wait": they cannot have it yet. "again": it failed. "later": nobody can be given it at the moment. */
	async #give(
		id: string,
	): Promise<"given" | "settled" | "wait" | "again" | "later"> {
		const { connection, mutex } = this.#options;
		const guild = this.#guild();
		// The next look begins again.
		if (!guild) return "later";
		const fault = rolesFault(guild, [this.#roleId]);
		if (fault !== undefined) {
			this.#say(fault);
			return "later";
		}
		return mutex.withLock(id, async () => {
			const member = guild.members.cache.get(id);
			if (!member) return "settled";
			if (member.roles.cache.has(this.#roleId)) return "settled";
			if (member.pending) return "wait";
			try {
				if (await this.#isRestricted(id, [...member.roles.cache.keys()]))
					return "wait";
			} catch (error) {
				// Whoever cannot be known to be free is left alone.
				if (error instanceof StoreUnavailable) return "wait";
				throw error;
			}
			const written = await this.#writer.write(() =>
				connection.discord.rest.put(
					Routes.guildMemberRole(guild.id, id, this.#roleId),
					{ reason: "for everyone who joins" },
				),
			);
			if (written === "gone") return "settled";
			if (written === "done") {
				this.#said = undefined;
				this.#count?.add(["given"]);
				return "given";
			}
			this.#count?.add(["failed"]);
			this.#say("notDone" in written ? written.notDone : written.inDoubt);
			// Giving it twice is giving it once.
			return "again";
		});
	}

	/** Once, until something else is to be said, or it works again. */
	#say(reason: string): void {
		if (reason !== this.#said)
			this.#options.log.warn("those who join are not given their role", {
				reason,
				left: this.#queue.size,
			});
		this.#said = reason;
	}

	/** Also while it is away. */
	get #guildId(): string | undefined {
		return this.#options.connection.guilds.find(({ roles }) =>
			roles.cache.has(this.#roleId),
		)?.id;
	}
}

function joinedAt({ joinedTimestamp }: GuildMember): number {
	return joinedTimestamp ?? 0;
}
