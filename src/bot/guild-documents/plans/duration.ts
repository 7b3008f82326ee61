// Estimates how long the steps of a plan take. Discord documents no limits per route, so these were observed by others. They
// are only for the estimate: when a request is sent depends on the headers of Discord's responses.
// https://docs.discord.com/developers/topics/rate-limits

import { countOf } from "../../../discord/text.ts";
import type { Step } from "../../../guild-document/steps.ts";

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

interface Limit {
	/** For people: "250 new roles in 50 hours". */
	text: string;
	max: number;
	seconds: number;
	keyOf(step: Step): string | undefined;
}

const creating =
	(...kinds: readonly Step["kind"][]) =>
	({ action, kind }: Step) =>
		action === "create" && kinds.includes(kind) ? "" : undefined;

/** Observed by developers of bots, not documented by Discord. */
const limits: readonly Limit[] = [
	{
		// Responses have X-RateLimit-Limit 250 and resets more than a day away: https://github.com/discord-net/Discord.Net/issues/1451
		// A table of headers collected on 2020-05-07 has 250 per 180,000 s. "250 roles per 2 days":
		// https://github.com/discord/discord-api-docs/issues/1480; also https://github.com/discordjs/discord.js/issues/4019,
		// https://github.com/discord/discord-api-docs/issues/5044 and https://github.com/Rapptz/discord.py/issues/5840
		text: "250 new roles in 50 hours",
		max: 250,
		seconds: 50 * hour,
		keyOf: creating("role"),
	},
	{
		// Announced to developers of bots for 2022-08-16, and not documented:
		// https://n3tc0rd.digitalpress.blog/new-discord-channel-creation-ratelimit/
		text: "500 new channels in a day",
		max: 500,
		seconds: day,
		keyOf: creating("channel", "category"),
	},
	{
		// Documented is only that there is a limit per guild: https://docs.discord.com/developers/resources/emoji
		// 50 per hour: https://github.com/remoji-bot/remoji-bot/issues/9; it stops after 50:
		// https://github.com/Jisagi/Discord-guild-copy/issues/48 and https://github.com/Pycord-Development/pycord/issues/1832;
		// waits of up to 3600 s: https://github.com/discord/discord-api-docs/issues/2250
		text: "50 new emoji in an hour",
		max: 50,
		seconds: hour,
		keyOf: creating("emoji"),
	},
	{
		// https://github.com/discord/discord-api-docs/issues/2190 and https://github.com/discord-jda/JDA/issues/1306
		text: "2 new names or topics of a channel in 10 minutes",
		max: 2,
		seconds: 10 * minute,
		keyOf: ({ action, kind, targetId, guard }) =>
			action === "edit" &&
			(kind === "channel" || kind === "category") &&
			guard.fields?.some((field) => field === "name" || field === "topic")
				? targetId
				: undefined,
	},
	{
		// The same table of headers, and https://github.com/discordjs/discord.js/issues/2618
		text: "10 changes of members' roles in 10 seconds",
		max: 10,
		seconds: 10,
		keyOf: ({ kind }) => (kind === "member" ? "" : undefined),
	},
];

/** As if no request was counted yet. `waits`: what makes it longer than a request per second, which few take. */
export function estimate(steps: readonly Step[]): { seconds: number; waits: string[] } {
	const all = limits.map(({ text, max, seconds, keyOf }) => {
		const { undefined: _, ...counted } = Object.groupBy(steps, (step) => String(keyOf(step)));
		const count = Math.max(0, ...Object.values(counted).map((group = []) => group.length));
		const windows = Math.max(0, Math.ceil(count / max) - 1);
		return { text, seconds: windows * seconds + count - windows * max };
	});
	const longest = Math.max(steps.length, ...all.map(({ seconds }) => seconds));
	return { seconds: longest, waits: all.flatMap(({ text, seconds }) => (seconds > steps.length ? text : [])) };
}

export function durationText(steps: readonly Step[]): string {
	const { seconds, waits } = estimate(steps);
	const why =
		waits.length > 0
			? `because Discord allows ${waits.join(", and ")} (observed, not documented)`
			: "sent as fast as Discord's rate limits allow";
	const time = `${waits.length > 0 ? "about" : "up to"} ${roughTime(seconds)}`;
	return `Estimated time: ${time} for ${countOf(steps.length, "step")}, ${why}.`;
}

function roughTime(seconds: number): string {
	if (seconds < 2 * minute) return `${seconds} s`;
	const [size, name] = seconds < 2 * hour ? [minute, "minutes"] : seconds < 2 * day ? [hour, "hours"] : [day, "days"];
	return `${Math.ceil(seconds / Number(size))} ${name}`;
}
