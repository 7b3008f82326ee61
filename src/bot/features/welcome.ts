// Everyone who joins is greeted in a channel: one by one as long as few join, and the rest of a crowd together, when it has
// calmed down. A greeting is sent once or not at all; who joins while the bot is away is not greeted.

import {
	type Client,
	Events,
	type Guild,
	type GuildMember,
	PermissionFlagsBits,
	Routes,
} from "discord.js";
import type { Ai } from "../ai/ai.ts";
import { AiError } from "../ai/error.ts";
import type { Feature, FeatureOptions } from "../commands/feature.ts";
import type { TomlSettings } from "../config/settings.ts";
import { describeBits, missingPermissions } from "../discord/permissions.ts";
import { toToolError } from "../discord/rest/errors.ts";
import { fillIn, greetingFrom, greetingRequest } from "./greeting.ts";

export interface WelcomeTiming {
	/** So many are greeted one by one within so long; who comes after them is in a crowd. */
	singles: number;
	windowMs: number;
	/** A crowd is over when nobody has joined for so long. */
	quietMs: number;
	/** One that does not end is greeted every now and then. */
	longestMs: number;
	/** What an AI may take for its words. */
	aiTimeoutMs: number;
	/** So many greetings in an hour are an AI's at most. */
	aiPerHour: number;
	/** The monotonic clock, in milliseconds. */
	now(): number;
}

const usualTiming: WelcomeTiming = {
	...{ singles: 3, windowMs: 10_000, quietMs: 10_000, longestMs: 300_000 },
	...{ aiTimeoutMs: 10_000, aiPerHour: 60 },
	now: () => performance.now(),
};

/** So many of a crowd are known by their ids; of the others, only how many they are. */
const maxKnown = 10_000;
/** What an AI's words may cost. */
const maxTokens = 400;
/** How long what is being sent is waited for at the end. */
const farewellMs = 2_000;
const hourMs = 3_600_000;

/** The feature, as `[welcome]` has it; undefined where it is off. */
export function createWelcome(
	options: FeatureOptions,
	timing: Partial<WelcomeTiming> = {},
): Feature | undefined {
	const { features, welcome } = options.config.toml;
	if (!features.welcome || !welcome) return undefined;
	return new Welcome(options, welcome, { ...usualTiming, ...timing });
}

/** People who have joined and are greeted together. */
interface Crowd {
	ids: Set<string>;
	/** Those for whom there was no room. */
	more: number;
	since: number;
	last: number;
	timer: Timer | undefined;
}

class Welcome implements Feature {
	readonly #options: FeatureOptions;
	readonly #settings: NonNullable<TomlSettings["welcome"]>;
	readonly #timing: WelcomeTiming;
	readonly #closing = new AbortController();
	/** When the latest were greeted one by one, and by an AI. */
	#singles: number[] = [];
	#byAi: number[] = [];
	#crowd: Crowd | undefined;
	readonly #sending = new Set<Promise<void>>();
	#said: string | undefined;
	readonly #count;

	constructor(
		options: FeatureOptions,
		settings: NonNullable<TomlSettings["welcome"]>,
		timing: WelcomeTiming,
	) {
		this.#options = options;
		this.#settings = settings;
		this.#timing = timing;
		this.#count = options.registry?.counter(
			"guildhall_bot_greetings_total",
			"Greetings of those who joined, by what came of them.",
			["outcome"],
		);
	}

	attach(client: Client): void {
		client.on(Events.GuildMemberAdd, (member) => {
			if (this.#isMeant(member)) this.#welcome(member);
		});
		client.on(Events.GuildMemberRemove, ({ id, guild }) => {
			if (this.#isHere(guild)) this.#crowd?.ids.delete(id);
		});
	}

	/** Whoever is in a crowd is greeted now. */
	async close(): Promise<void> {
		const guild = this.#options.connection.guilds.find((one) =>
			this.#isHere(one),
		);
		this.#closing.abort();
		clearTimeout(this.#crowd?.timer);
		if (this.#crowd && guild) this.#greetCrowd(guild, this.#crowd);
		this.#crowd = undefined;
		await Promise.race([Promise.all(this.#sending), Bun.sleep(farewellMs)]);
	}

	#isHere(guild: Guild): boolean {
		return guild.channels.cache.has(this.#settings.channel);
	}

	#isMeant({ user, guild }: GuildMember): boolean {
		return !user.bot && this.#isHere(guild) && !this.#closing.signal.aborted;
	}

	#welcome(member: GuildMember): void {
		const { singles, windowMs, now } = this.#timing;
		const at = now();
		if (this.#crowd) {
			join(this.#crowd, member.id, at);
			return;
		}
		this.#singles = this.#singles.filter((time) => time > at - windowMs);
		if (this.#singles.length < singles) {
			this.#singles.push(at);
			this.#send(() => this.#greet(member));
			return;
		}
		this.#crowd = newCrowd(at);
		join(this.#crowd, member.id, at);
		this.#wait(member.guild, this.#crowd);
	}

	/** Until the crowd has calmed down, or has gone on for long enough. */
	#wait(guild: Guild, crowd: Crowd): void {
		const { quietMs, longestMs, now } = this.#timing;
		const end = Math.min(crowd.last + quietMs, crowd.since + longestMs);
		crowd.timer = setTimeout(
			() => this.#look(guild, crowd),
			Math.max(end - now(), 0),
		);
	}

	#look(guild: Guild, crowd: Crowd): void {
		const { quietMs, longestMs, now } = this.#timing;
		const at = now();
		const isOver = at >= crowd.last + quietMs;
		if (!isOver && at < crowd.since + longestMs) {
			this.#wait(guild, crowd);
			return;
		}
		this.#greetCrowd(guild, crowd);
		this.#crowd = isOver ? undefined : { ...newCrowd(at), last: crowd.last };
		if (this.#crowd) this.#wait(guild, this.#crowd);
	}

	#greetCrowd(guild: Guild, { ids, more }: Crowd): void {
		const count = ids.size + more;
		if (count === 0) return;
		const [only] = ids;
		const member =
			count === 1 && only ? guild.members.cache.get(only) : undefined;
		const text = member
			? this.#plain(member)
			: fillIn(this.#settings.summary, guild, { count: String(count) });
		this.#send(() => this.#post(guild, text, member?.id));
	}

	/** Begins it. What becomes of it is counted, and a failure told. */
	#send(work: () => Promise<void>): void {
		const { log } = this.#options;
		const sent: Promise<void> = work()
			.then(() => {
				this.#said = undefined;
				this.#count?.add(["sent"]);
			})
			.catch((error) => {
				this.#count?.add(["failed"]);
				const told =
					error instanceof Unable ? error.message : toToolError(error)?.message;
				if (told === undefined) log.error("could not greet", { error });
				else this.#say(told);
			})
			.finally(() => this.#sending.delete(sent));
		this.#sending.add(sent);
	}

	async #greet(member: GuildMember): Promise<void> {
		const { guild, id } = member;
		requirePermissions(guild, this.#settings.channel);
		const { ai } = this.#options;
		const words =
			ai && this.#settings.ai ? await this.#wordsOf(ai, member) : undefined;
		// Whoever has left meanwhile needs none.
		if (!guild.members.cache.has(id)) return;
		const text =
			words === undefined ? this.#plain(member) : `<@${id}> ${words}`;
		await this.#post(guild, text, id);
	}

	#plain({ guild, id }: GuildMember): string {
		return fillIn(this.#settings.message, guild, { user: `<@${id}>` });
	}

	/** Undefined where the AI has none in time, or has had to find too many. */
	async #wordsOf(ai: Ai, member: GuildMember): Promise<string | undefined> {
		const { aiPerHour, aiTimeoutMs, now } = this.#timing;
		const at = now();
		this.#byAi = this.#byAi.filter((time) => time > at - hourMs);
		if (this.#byAi.length >= aiPerHour) return undefined;
		this.#byAi.push(at);
		const { config, log } = this.#options;
		const signal = AbortSignal.any([
			AbortSignal.timeout(aiTimeoutMs),
			this.#closing.signal,
		]);
		const personality =
			config.personality ?? `You are ${config.botName}, a bot on Discord.`;
		try {
			const request = greetingRequest(personality, member);
			const answer = await inTime(
				ai.complete(request, { signal, maxTokens }),
				signal,
			);
			const words = greetingFrom(answer);
			if (words === undefined) this.#count?.add(["ai_unfit"]);
			return words;
		} catch (error) {
			this.#count?.add(["ai_failed"]);
			if (!(error instanceof AiError || signal.aborted))
				log.error("an AI could not greet", { error });
			return undefined;
		}
	}

	/** Sends a text that pings `newcomer`, where it names them, and nobody else. */
	async #post(guild: Guild, content: string, newcomer?: string): Promise<void> {
		const { channel } = this.#settings;
		requirePermissions(guild, channel);
		if (content.trim() === "") throw new Unable("the greeting is empty");
		await guild.client.rest.post(Routes.channelMessages(channel), {
			body: {
				content,
				allowed_mentions: { parse: [], users: newcomer ? [newcomer] : [] },
			},
		});
	}

	/** Once, until something else is to be said, or it works again. */
	#say(reason: string): void {
		if (reason !== this.#said)
			this.#options.log.warn("could not greet those who join", { reason });
		this.#said = reason;
	}
}

/** Why a greeting cannot be sent, for the operator. */
class Unable extends Error {}

/** Throws an Unable: asking Discord for what it refuses would count against the bot. */
function requirePermissions(guild: Guild, channelId: string): void {
	const channel = guild.channels.cache.get(channelId);
	if (!channel) throw new Unable(`there is no channel ${channelId} any more`);
	const { ViewChannel, SendMessages } = PermissionFlagsBits;
	const needed = ViewChannel | SendMessages;
	const missing = missingPermissions(guild, channel, needed);
	if (missing !== 0n)
		throw new Unable(
			`the bot lacks ${describeBits(missing)} in the channel ${channelId}`,
		);
}

function newCrowd(at: number): Crowd {
	return { ids: new Set(), more: 0, since: at, last: at, timer: undefined };
}

function join(crowd: Crowd, id: string, at: number): void {
	crowd.last = at;
	if (crowd.ids.size < maxKnown) crowd.ids.add(id);
	else crowd.more += 1;
}

/** What `work` gives, as long as it gives it before the signal comes. */
async function inTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
	const { promise, reject } = Promise.withResolvers<never>();
	const end = () => reject(signal.reason);
	signal.addEventListener("abort", end, { once: true });
	try {
		signal.throwIfAborted();
		return await Promise.race([work, promise]);
	} finally {
		signal.removeEventListener("abort", end);
		// It may still fail, and nobody listens any more.
		work.catch(() => {});
	}
}
