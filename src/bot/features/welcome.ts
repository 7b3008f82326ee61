// The feature `welcome`: greets people who join. When many join at once, the first few are greeted one by one, and the
// rest together once the raid is over. A greeting is sent at most once; joins while the bot is offline are not greeted.

import { Events, type Guild, type GuildMember, PermissionFlagsBits, Routes } from "discord.js";
import type { Ai } from "../../ai/ai.ts";
import { AiError } from "../../ai/error.ts";
import { describeBits, missingPermissions } from "../../discord/permissions.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import { inBackground } from "../../discord/rest/rest.ts";
import { SlidingWindow } from "../../lib/sliding-window.ts";
import { Pending, raceSignal } from "../../lib/wait.ts";
import { Limiter } from "../commands/cooldown.ts";
import type { Feature, FeatureOptions } from "../commands/feature.ts";
import { ignoreUnavailable } from "../store/unavailable.ts";
import { fixedGreeting, greetingFrom, greetingRequest, summaryOf } from "./greeting.ts";

export interface WelcomeTiming {
	/** Newcomers per time window who are greeted one by one. All others are greeted together in one message. */
	singles: number;
	windowMs: number;
	/** Time without joins after which a burst of joins is over and its newcomers are greeted together. */
	quietMs: number;
	/** Maximum time that newcomers of a burst of joins wait for their common greeting while others keep joining. */
	maxRaidMs: number;
	aiTimeoutMs: number;
	aiPerHour: number;
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

const maxTokens = 400;
const hourMs = 3_600_000;

interface Raid {
	guild: Guild;
	timer: Timer | undefined;
	ids: Set<string>;
	startedAt: number;
	lastJoinAt: number;
}

export function createWelcome(
	{ config, settings, ai, log, registry, chatPrivacy }: Omit<FeatureOptions, "connection">,
	timing: Partial<WelcomeTiming> = {},
): Feature {
	const { quietMs, maxRaidMs, aiTimeoutMs, aiPerHour, windowMs, now, ...limits } = { ...defaultTiming, ...timing };
	const closing = new AbortController();
	/** By guild. */
	const singles = new Limiter({ max: limits.singles, windowMs, now });
	const raids = new Map<string, Raid>();
	const warnings = new Map<string, string>();
	const aiGreetings = new SlidingWindow({ max: aiPerHour, windowMs: hourMs, now });
	const sending = new Pending();
	const counter = registry?.counter("guildhall_bot_greetings_total", "Greetings by outcome.", ["outcome"]);

	const count = (outcome: string) => counter?.add([outcome]);

	function greetOrCollect(member: GuildMember): void {
		const { user, guild } = member;
		if (user.bot || closing.signal.aborted || settings.of(guild.id)["welcome.channel"] === undefined) return;
		const raid = raids.get(guild.id);
		if (!raid && singles.accepts(guild.id)) {
			send(guild, () => greet(member));
			return;
		}
		const current = raid ?? newRaid(guild, now());
		current.ids.add(member.id);
		current.lastJoinAt = now();
		if (!raid) schedule(current);
	}

	function schedule(raid: Raid): void {
		const { guild, lastJoinAt, startedAt } = raid;
		const end = Math.min(lastJoinAt + quietMs, startedAt + maxRaidMs);
		raid.timer = setTimeout(() => checkRaid(raid), Math.max(end - now(), 0));
		raids.set(guild.id, raid);
	}

	function checkRaid(raid: Raid): void {
		const at = now();
		const isOver = at >= raid.lastJoinAt + quietMs;
		const isDue = isOver || at >= raid.startedAt + maxRaidMs;
		if (isDue) greetRaid(raid);
		if (isOver) raids.delete(raid.guild.id);
		else schedule(isDue ? { ...newRaid(raid.guild, at), lastJoinAt: raid.lastJoinAt } : raid);
	}

	function greetRaid({ guild, ids }: Raid): void {
		const count = ids.size;
		const {
			"welcome.channel": channel,
			"welcome.message": message,
			"welcome.summary": summary,
		} = settings.of(guild.id);
		if (count === 0 || channel === undefined) return;
		const [only] = ids;
		const member = count === 1 && only ? guild.members.cache.get(only) : undefined;
		const text = member ? fixedGreeting(member.guild, member.id, message) : summaryOf(guild, count, summary);
		send(guild, () => post(guild, channel, text, member?.id));
	}

	function send({ id }: Guild, work: () => Promise<void>): void {
		const sent = inBackground(work)
			.then(() => {
				warnings.delete(id);
				count("sent");
			})
			.catch((error) => {
				count("failed");
				const reason = error instanceof GreetingError ? error.message : toToolError(error)?.message;
				if (reason === undefined) log.error("could not send a welcome message: internal error", { guild: id, error });
				else warn(id, reason);
			});
		void sending.add(sent);
	}

	async function greet(member: GuildMember): Promise<void> {
		const { guild, id } = member;
		const { "welcome.channel": channel, "welcome.message": message, "welcome.ai": asksAi } = settings.of(guild.id);
		if (channel === undefined) return;
		requirePermissions(guild, channel);
		const signal = AbortSignal.any([AbortSignal.timeout(aiTimeoutMs), closing.signal]);
		const mayAsk = asksAi && (await chatPrivacy.off(guild.id).catch(ignoreUnavailable))?.(id) === false;
		const greeting =
			ai && mayAsk && aiGreetings.take() ? await askAi(ai, { config, log }, member, signal, count) : undefined;
		// The member may have left.
		if (!guild.members.cache.has(id)) return;
		const text = greeting === undefined ? fixedGreeting(member.guild, member.id, message) : `<@${id}> ${greeting}`;
		await post(guild, channel, text, id);
	}

	function warn(guild: string, reason: string): void {
		if (reason !== warnings.get(guild)) log.warn("could not send a welcome message", { guild, reason });
		warnings.set(guild, reason);
	}

	return {
		attach(client) {
			client.on(Events.GuildMemberAdd, greetOrCollect);
			client.on(Events.GuildMemberRemove, ({ id, guild }) => raids.get(guild.id)?.ids.delete(id));
		},
		async close() {
			closing.abort();
			for (const raid of raids.values()) {
				clearTimeout(raid.timer);
				greetRaid(raid);
			}
			raids.clear();
			await sending.settled();
		},
	};
}

class GreetingError extends Error {}

async function askAi(
	ai: Ai,
	{ config, log }: Pick<FeatureOptions, "config" | "log">,
	member: GuildMember,
	signal: AbortSignal,
	count: (outcome: string) => void,
): Promise<string | undefined> {
	const personality = config.personality ?? `You are ${config.botName}, a bot on Discord.`;
	try {
		const request = greetingRequest(personality, member);
		const greeting = greetingFrom(await raceSignal(ai.complete(request, { signal, maxTokens }), signal));
		if (greeting === undefined) count("ai_unfit");
		return greeting;
	} catch (error) {
		count("ai_failed");
		if (!(error instanceof AiError || signal.aborted))
			log.error("could not generate a welcome message with AI: internal error", { error });
		return undefined;
	}
}

async function post(guild: Guild, channel: string, content: string, newcomer?: string): Promise<void> {
	requirePermissions(guild, channel);
	if (content.trim() === "") throw new GreetingError("the welcome message is empty");
	await guild.client.rest.post(Routes.channelMessages(channel), {
		body: { content, allowed_mentions: { parse: [], users: newcomer ? [newcomer] : [] } },
	});
}

function requirePermissions(guild: Guild, channelId: string): void {
	const channel = guild.channels.cache.get(channelId);
	if (!channel) throw new GreetingError(`the welcome channel ${channelId} no longer exists`);
	const needed = PermissionFlagsBits.ViewChannel | PermissionFlagsBits.SendMessages;
	const missing = missingPermissions(guild, channel, needed);
	if (missing !== 0n) throw new GreetingError(`the bot lacks ${describeBits(missing)} in the channel ${channelId}`);
}

function newRaid(guild: Guild, at: number): Raid {
	return { guild, timer: undefined, ids: new Set(), startedAt: at, lastJoinAt: at };
}
