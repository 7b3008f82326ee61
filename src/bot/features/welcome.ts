// The feature `welcome`: greets people who join. When many join at once, the first few are greeted one by one, and the
// rest together once the raid is over. A greeting is sent at most once; joins while the bot is offline are not greeted.

import {
	type Client,
	Events,
	type Guild,
	type GuildMember,
	PermissionFlagsBits,
	Routes,
} from "discord.js";
import { raceSignal, within } from "../../lib/wait.ts";
import type { Ai } from "../ai/ai.ts";
import { AiError } from "../ai/error.ts";
import type { Feature, FeatureOptions } from "../commands/feature.ts";
import type { TomlSettings } from "../config/settings.ts";
import { describeBits, missingPermissions } from "../discord/permissions.ts";
import { toToolError } from "../discord/rest/errors.ts";
import { fillTemplate, greetingFrom, greetingRequest } from "./greeting.ts";

export interface WelcomeTiming {
	/** People greeted one by one within `windowMs`. The next one starts a raid. */
	singles: number;
	windowMs: number;
	/** A raid ends when nobody joins for this long. */
	quietMs: number;
	/** Longest time without a greeting during a raid. */
	maxRaidMs: number;
	aiTimeoutMs: number;
	/** Limit of AI greetings per hour. */
	aiPerHour: number;
	/** The monotonic clock, in milliseconds. */
	now(): number;
}

const defaultTiming: WelcomeTiming = {
	singles: 3,
	windowMs: 10_000,
	quietMs: 10_000,
	maxRaidMs: 300_000,
	aiTimeoutMs: 10_000,
	aiPerHour: 60,
	now: () => performance.now(),
};

/** People of a raid tracked by id. Beyond that, only their number is known. */
const maxTracked = 10_000;
const maxTokens = 400;
/** How long greetings in progress may take on shutdown. */
const shutdownGraceMs = 2_000;
const hourMs = 3_600_000;

/** Returns undefined when the feature is off. */
export function createWelcome(
	options: FeatureOptions,
	timing: Partial<WelcomeTiming> = {},
): Feature | undefined {
	const { features, welcome } = options.config.toml;
	if (!features.welcome || !welcome) return undefined;
	return new Welcome(options, welcome, { ...defaultTiming, ...timing });
}

/** People who joined and are greeted together. Times by `now`. */
interface Raid {
	ids: Set<string>;
	/** How many more joined. */
	untracked: number;
	startedAt: number;
	lastJoinAt: number;
	timer: Timer | undefined;
}

class Welcome implements Feature {
	readonly #options: FeatureOptions;
	readonly #settings: NonNullable<TomlSettings["welcome"]>;
	readonly #timing: WelcomeTiming;
	readonly #closing = new AbortController();
	/** Times of recent single and AI greetings. */
	#singles: number[] = [];
	#aiGreetings: number[] = [];
	#raid: Raid | undefined;
	readonly #sending = new Set<Promise<void>>();
	#lastWarning: string | undefined;
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
			"Greetings by outcome.",
			["outcome"],
		);
	}

	attach(client: Client): void {
		client.on(Events.GuildMemberAdd, (member) => {
			if (this.#isEligible(member)) this.#welcome(member);
		});
		client.on(Events.GuildMemberRemove, ({ id, guild }) => {
			if (this.#hasChannel(guild)) this.#raid?.ids.delete(id);
		});
	}

	/** Greets the people of a raid in progress. */
	async close(): Promise<void> {
		const guild = this.#options.connection.guilds.find((guild) =>
			this.#hasChannel(guild),
		);
		this.#closing.abort();
		clearTimeout(this.#raid?.timer);
		if (this.#raid && guild) this.#greetRaid(guild, this.#raid);
		this.#raid = undefined;
		await within(shutdownGraceMs, Promise.all(this.#sending));
	}

	#hasChannel(guild: Guild): boolean {
		return guild.channels.cache.has(this.#settings.channel);
	}

	#isEligible({ user, guild }: GuildMember): boolean {
		return (
			!user.bot && this.#hasChannel(guild) && !this.#closing.signal.aborted
		);
	}

	#welcome(member: GuildMember): void {
		const { singles, windowMs, now } = this.#timing;
		const at = now();
		if (this.#raid) {
			addToRaid(this.#raid, member.id, at);
			return;
		}
		this.#singles = this.#singles.filter((time) => time > at - windowMs);
		if (this.#singles.length < singles) {
			this.#singles.push(at);
			this.#send(() => this.#greet(member));
			return;
		}
		this.#raid = newRaid(at);
		addToRaid(this.#raid, member.id, at);
		this.#schedule(member.guild, this.#raid);
	}

	#schedule(guild: Guild, raid: Raid): void {
		const { quietMs, maxRaidMs, now } = this.#timing;
		const end = Math.min(raid.lastJoinAt + quietMs, raid.startedAt + maxRaidMs);
		raid.timer = setTimeout(
			() => this.#checkRaid(guild, raid),
			Math.max(end - now(), 0),
		);
	}

	/** Greets the raid when it is over or lasts too long. */
	#checkRaid(guild: Guild, raid: Raid): void {
		const { quietMs, maxRaidMs, now } = this.#timing;
		const at = now();
		const isOver = at >= raid.lastJoinAt + quietMs;
		if (!isOver && at < raid.startedAt + maxRaidMs) {
			this.#schedule(guild, raid);
			return;
		}
		this.#greetRaid(guild, raid);
		this.#raid = isOver
			? undefined
			: { ...newRaid(at), lastJoinAt: raid.lastJoinAt };
		if (this.#raid) this.#schedule(guild, this.#raid);
	}

	#greetRaid(guild: Guild, { ids, untracked }: Raid): void {
		const count = ids.size + untracked;
		if (count === 0) return;
		const [only] = ids;
		const member =
			count === 1 && only ? guild.members.cache.get(only) : undefined;
		const text = member
			? this.#defaultGreeting(member)
			: fillTemplate(this.#settings.summary, guild, { count: String(count) });
		this.#send(() => this.#post(guild, text, member?.id));
	}

	/** Runs in the background. Counts the outcome and logs a failure. */
	#send(work: () => Promise<void>): void {
		const { log } = this.#options;
		const sent: Promise<void> = work()
			.then(() => {
				this.#lastWarning = undefined;
				this.#count?.add(["sent"]);
			})
			.catch((error) => {
				this.#count?.add(["failed"]);
				const reason =
					error instanceof GreetingError
						? error.message
						: toToolError(error)?.message;
				if (reason === undefined) log.error("greeting failed", { error });
				else this.#warn(reason);
			})
			.finally(() => this.#sending.delete(sent));
		this.#sending.add(sent);
	}

	async #greet(member: GuildMember): Promise<void> {
		const { guild, id } = member;
		requirePermissions(guild, this.#settings.channel);
		const { ai } = this.#options;
		const greeting =
			ai && this.#settings.ai ? await this.#askAi(ai, member) : undefined;
		// The member may have left.
		if (!guild.members.cache.has(id)) return;
		const text =
			greeting === undefined
				? this.#defaultGreeting(member)
				: `<@${id}> ${greeting}`;
		await this.#post(guild, text, id);
	}

	#defaultGreeting({ guild, id }: GuildMember): string {
		return fillTemplate(this.#settings.message, guild, { user: `<@${id}>` });
	}

	/** Undefined when the AI fails, times out or has reached its hourly limit. */
	async #askAi(ai: Ai, member: GuildMember): Promise<string | undefined> {
		const { aiPerHour, aiTimeoutMs, now } = this.#timing;
		const at = now();
		this.#aiGreetings = this.#aiGreetings.filter((time) => time > at - hourMs);
		if (this.#aiGreetings.length >= aiPerHour) return undefined;
		this.#aiGreetings.push(at);
		const { config, log } = this.#options;
		const signal = AbortSignal.any([
			AbortSignal.timeout(aiTimeoutMs),
			this.#closing.signal,
		]);
		const personality =
			config.personality ?? `You are ${config.botName}, a bot on Discord.`;
		try {
			const request = greetingRequest(personality, member);
			const answer = await raceSignal(
				ai.complete(request, { signal, maxTokens }),
				signal,
			);
			const greeting = greetingFrom(answer);
			if (greeting === undefined) this.#count?.add(["ai_unfit"]);
			return greeting;
		} catch (error) {
			this.#count?.add(["ai_failed"]);
			if (!(error instanceof AiError || signal.aborted))
				log.error("AI greeting failed", { error });
			return undefined;
		}
	}

	/** Sends a message that can ping nobody but `newcomer`. */
	async #post(guild: Guild, content: string, newcomer?: string): Promise<void> {
		const { channel } = this.#settings;
		requirePermissions(guild, channel);
		if (content.trim() === "") throw new GreetingError("the greeting is empty");
		await guild.client.rest.post(Routes.channelMessages(channel), {
			body: {
				content,
				allowed_mentions: { parse: [], users: newcomer ? [newcomer] : [] },
			},
		});
	}

	/** Repeats no reason until a greeting was sent. */
	#warn(reason: string): void {
		if (reason !== this.#lastWarning)
			this.#options.log.warn("greeting not sent", { reason });
		this.#lastWarning = reason;
	}
}

/** Why a greeting cannot be sent, for the operator. */
class GreetingError extends Error {}

/** Throws a GreetingError. Checked first: requests that Discord refuses count against the bot. */
function requirePermissions(guild: Guild, channelId: string): void {
	const channel = guild.channels.cache.get(channelId);
	if (!channel)
		throw new GreetingError(`there is no channel ${channelId} any more`);
	const { ViewChannel, SendMessages } = PermissionFlagsBits;
	const needed = ViewChannel | SendMessages;
	const missing = missingPermissions(guild, channel, needed);
	if (missing !== 0n)
		throw new GreetingError(
			`the bot lacks ${describeBits(missing)} in the channel ${channelId}`,
		);
}

function newRaid(at: number): Raid {
	return {
		ids: new Set(),
		untracked: 0,
		startedAt: at,
		lastJoinAt: at,
		timer: undefined,
	};
}

function addToRaid(raid: Raid, id: string, at: number): void {
	raid.lastJoinAt = at;
	if (raid.ids.size < maxTracked) raid.ids.add(id);
	else raid.untracked += 1;
}
