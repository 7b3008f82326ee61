// Rules of the setting `moderation.escalate`, such as "3 warnings in 30d: timeout 1d".

import * as v from "valibot";
import { formatValue } from "../../lib/config.ts";

const dayMs = 86_400_000;
const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: dayMs, w: 7 * dayMs };
// https://docs.discord.com/developers/resources/guild#modify-guild-member
const maxTimeoutMs = 28 * dayMs;
const maxBanMs = 5 * 366 * dayMs;
const maxWindowMs = 5 * 366 * dayMs;
const maxCount = 100;
const maxRules = 20;

const counted = { warning: ["warn"], timeout: ["timeout"], kick: ["kick"], ban: ["ban", "temp_ban"] } as const;

export interface EscalationRule {
	/** In one form: "3 warnings in 30d: timeout 1d". */
	text: string;
	/** Cases within `windowMs`. */
	count: number;
	actions: readonly (typeof counted)[keyof typeof counted][number][];
	windowMs: number;
	action: "timeout" | "kick" | "ban";
	/** Undefined for a kick or a permanent ban. */
	durationMs: number | undefined;
}

const example = '"3 warnings in 30d: timeout 1d" or "5 warnings in 90d: ban 7d"';

/** The rule, or what is wrong with the text. */
export function readRule(text: string): EscalationRule | string {
	const words = text.trim().replace(/\s+/g, " ");
	const match = /^(\d{1,6}) ([a-z]+?)s? in (\S+) ?: ?([a-z]+)(?: (\S+))?$/i.exec(words);
	if (!match) return `expected a rule such as ${example}`;
	const [, number = "", noun = "", window = "", verb = "", length] = match;
	const count = Number(number);
	if (count < 1 || count > maxCount) return `expected a number from 1 to ${maxCount} before "${noun}"`;
	const kind = noun.toLowerCase();
	if (!isCounted(kind)) return `expected "warnings", "timeouts", "kicks" or "bans" after ${count}`;
	const windowMs = readLength(window);
	if (windowMs === undefined || windowMs > maxWindowMs)
		return `expected a duration of at most 5 years such as "30d" after "in" (units m, h, d, w), received ${formatValue(window)}`;
	const end = readAction(verb.toLowerCase(), length);
	if (typeof end === "string") return end;
	const shown = `${count} ${kind}${count === 1 ? "" : "s"} in ${window.toLowerCase()}: ${end.action}${length ? ` ${length.toLowerCase()}` : ""}`;
	return { text: shown, count, actions: counted[kind], windowMs, ...end };
}

function readAction(
	action: string,
	length: string | undefined,
): Pick<EscalationRule, "action" | "durationMs"> | string {
	const durationMs = length === undefined ? undefined : readLength(length);
	if (action === "kick") return length === undefined ? { action, durationMs } : 'expected nothing after "kick"';
	if (action === "timeout")
		return durationMs !== undefined && durationMs <= maxTimeoutMs
			? { action, durationMs }
			: 'expected a duration of at most 28 days after "timeout", such as "1d"';
	if (action !== "ban") return `expected "timeout", "kick" or "ban" after the colon, received ${formatValue(action)}`;
	return length === undefined || (durationMs !== undefined && durationMs <= maxBanMs)
		? { action, durationMs }
		: 'expected nothing or a duration of at most 5 years after "ban", such as "7d"';
}

function isCounted(noun: string): noun is keyof typeof counted {
	return Object.hasOwn(counted, noun);
}

function readLength(text: string): number | undefined {
	const [, count = "", unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text.toLowerCase()) ?? [];
	const ms = Number(count) * (unitMs[unit] ?? 0);
	return ms > 0 ? ms : undefined;
}

const escalationRule = v.pipe(
	v.string(),
	v.rawTransform(({ dataset, addIssue, NEVER }): EscalationRule => {
		const rule = readRule(dataset.value);
		if (typeof rule !== "string") return rule;
		addIssue({ message: `${rule}, in ${formatValue(dataset.value)}` });
		return NEVER;
	}),
);

export const escalationRules = v.pipe(
	v.array(escalationRule),
	v.maxLength(maxRules, `expected at most ${maxRules} rules`),
	v.check((rules) => new Set(rules.map(({ text }) => text)).size === rules.length, "expected each rule once"),
);

/** For the setting `moderation.tell`. */
export const tellable = ["warn", "timeout", "remove_timeout", "kick", "ban", "temp_ban", "spam"] as const;
