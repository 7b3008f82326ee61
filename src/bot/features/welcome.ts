// The feature `welcome`: greets people who join. When many join at once, the first few are greeted one by one, and the
// rest together once the raid is over. A greeting is sent at most once; joins while the bot is offline are not greeted.

import { Events, type Guild, type GuildMember, PermissionFlagsBits, Routes } from "discord.js";
import type { Ai } from "../../ai/ai.ts";
import { AiError } from "../../ai/error.ts";
import { describeBits, missingPermissions } from "../../discord/permissions.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import { inBackground } from "../../discord/rest/rest.ts";
import { SlidingWindow } from "../../lib/sliding-window.ts";
import { raceSignal, within } from "../../lib/wait.ts";
import { sayIn } from "../../texts/texts.ts";
import { type Feature, type FeatureOptions, Pending } from "../commands/feature.ts";
import { fillTemplate, greetingFrom, greetingRequest } from "./greeting.ts";

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

const maxTracked = 10_000;
const maxTokens = 400;
const shutdownGraceMs = 2_000;
const hourMs = 3_600_000;

interface Raid {
	ids: Set<string>;
	untracked: number;
	startedAt: number;
	lastJoinAt: number;
}

export function createWelcome(
	{ config, connection, ai, log, registry }: FeatureOptions,
	timing: Partial<WelcomeTiming> = {},
): Feature | undefined {
	const { features, welcome } = config.toml;
	if (!features.welcome || !welcome) return undefined;
	const settings = welcome;
	const { quietMs, maxRaidMs, aiTimeoutMs, aiPerHour, windowMs, now, ...limits } = { ...defaultTiming, ...timing };
	const closing = new AbortController();
	const singles = new SlidingWindow({ max: limits.singles, windowMs, now });
	const aiGreetings = new SlidingWindow({ max: aiPerHour, windowMs: hourMs, now });
	let raid: Raid | undefined;
	let timer: Timer | undefined;
	const sending = new Pending();
	let lastWarning: string | undefined;
	const counter = registry?.counter("guildhall_bot_greetings_total", "Greetings by outcome.", ["outcome"]);

	const count = (outcome: string) => counter?.add([outcome]);

	function hasChannel(guild: Guild): boolean {
		return guild.channels.cache.has(settings.channel);
	}

	function isEligible({ user, guild }: GuildMember): boolean {
		return !user.bot && hasChannel(guild) && !closing.signal.aborted;
	}

	function greetOrCollect(member: GuildMember): void {
		const at = now();
		const isRaid = raid !== undefined;
		if (!isRaid && singles.take()) {
			send(member.guild, () => greet(member));
			return;
		}
		raid ??= newRaid(at);
		addToRaid(raid, member.id, at);
		if (!isRaid) schedule(member.guild, raid);
	}

	function schedule(guild: Guild, { lastJoinAt, startedAt }: Raid): void {
		const end = Math.min(lastJoinAt + quietMs, startedAt + maxRaidMs);
		timer = setTimeout(() => checkRaid(guild), Math.max(end - now(), 0));
	}

	function checkRaid(guild: Guild): void {
		if (!raid) return;
		const at = now();
		const isOver = at >= raid.lastJoinAt + quietMs;
		if (isOver || at >= raid.startedAt + maxRaidMs) {
			greetRaid(guild, raid);
			raid = isOver ? undefined : { ...newRaid(at), lastJoinAt: raid.lastJoinAt };
		}
		if (raid) schedule(guild, raid);
	}

	function greetRaid(guild: Guild, { ids, untracked }: Raid): void {
		const count = ids.size + untracked;
		if (count === 0) return;
		const [only] = ids;
		const member = count === 1 && only ? guild.members.cache.get(only) : undefined;
		const text = member
			? fixedGreeting(member, settings.message)
			: settings.summary === undefined
				? sayIn(guild.preferredLocale)("welcome.summary", { count })
				: fillTemplate(settings.summary, guild, { count: String(count) });
		send(guild, () => post(guild, settings.channel, text, member?.id));
	}

	function send({ id }: Guild, work: () => Promise<void>): void {
		const sent = inBackground(work)
			.then(() => {
				lastWarning = undefined;
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
		requirePermissions(guild, settings.channel);
		const signal = AbortSignal.any([AbortSignal.timeout(aiTimeoutMs), closing.signal]);
		const greeting =
			ai && settings.ai && aiGreetings.take() ? await askAi(ai, { config, log }, member, signal, count) : undefined;
		// The member may have left.
		if (!guild.members.cache.has(id)) return;
		const text = greeting === undefined ? fixedGreeting(member, settings.message) : `<@${id}> ${greeting}`;
		await post(guild, settings.channel, text, id);
	}

	function warn(guild: string, reason: string): void {
		if (reason !== lastWarning) log.warn("could not send a welcome message", { guild, reason });
		lastWarning = reason;
	}

	return {
		attach(client) {
			client.on(Events.GuildMemberAdd, (member) => {
				if (isEligible(member)) greetOrCollect(member);
			});
			client.on(Events.GuildMemberRemove, ({ id, guild }) => {
				if (hasChannel(guild)) raid?.ids.delete(id);
			});
		},
		async close() {
			const guild = connection.guilds.find(hasChannel);
			closing.abort();
			clearTimeout(timer);
			if (raid && guild) greetRaid(guild, raid);
			raid = undefined;
			await within(shutdownGraceMs, sending.settled());
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
		const answer = await raceSignal(ai.complete(request, { signal, maxTokens }), signal);
		const greeting = greetingFrom(answer);
		if (greeting === undefined) count("ai_unfit");
		return greeting;
	} catch (error) {
		count("ai_failed");
		if (!(error instanceof AiError || signal.aborted))
			log.error("could not generate a welcome message with AI: internal error", { error });
		return undefined;
	}
}

function fixedGreeting({ guild, id }: GuildMember, message: string | undefined): string {
	const user = `<@${id}>`;
	return message === undefined
		? sayIn(guild.preferredLocale)("welcome.greeting", { user })
		: fillTemplate(message, guild, { user });
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
	const { ViewChannel, SendMessages } = PermissionFlagsBits;
	const needed = ViewChannel | SendMessages;
	const missing = missingPermissions(guild, channel, needed);
	if (missing !== 0n) throw new GreetingError(`the bot lacks ${describeBits(missing)} in the channel ${channelId}`);
}

function newRaid(at: number): Raid {
	return { ids: new Set(), untracked: 0, startedAt: at, lastJoinAt: at };
}

function addToRaid(raid: Raid, id: string, at: number): void {
	raid.lastJoinAt = at;
	if (raid.ids.size < maxTracked) raid.ids.add(id);
	else raid.untracked += 1;
}
