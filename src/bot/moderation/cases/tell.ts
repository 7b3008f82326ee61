// Tells people by direct message what is done to them. Before a ban or kick: afterwards there may be no common guild.

import { type Guild, Routes } from "discord.js";
import type { Connection } from "../../../discord/connection/connection.ts";
import { describePlatformError } from "../../../discord/rest/errors.ts";
import { currentRun, isOutcomeUnknown, withinRun } from "../../../discord/rest/rest.ts";
import { inlineText } from "../../../discord/text.ts";
import { languageOf, render, said, type Text } from "../../../texts/texts.ts";
import type { FeatureOptions } from "../../commands/feature.ts";
import { tellable } from "../../config/escalation.ts";
import type { Told } from "../../store/tables/cases.ts";
import type { CaseAction } from "../../tool/case-record.ts";
import { memberOrAbsent } from "../../tools/members/several-members.ts";
import { formatEnd } from "../moderation-log.ts";

const timeoutMs = 2_000;
/** Maximum number of direct messages that one call sends. Discord flags accounts that message many people. */
export const maxTold = 20;
const maxNameLength = 200;
const maxReasonLength = 1_000;

interface Notice {
	action: (typeof tellable)[number];
	/** Text is the reason as the moderator wrote it. */
	reason: Text | undefined;
	endsAt: number | undefined;
	/** What the person can do, in Discord's Markdown. */
	advice?: Text;
}

export function isTellable(action: CaseAction): action is Notice["action"] {
	return tellable.some((one) => one === action);
}

export function hasAppeal(action: CaseAction): boolean {
	return action !== "remove_timeout";
}

/** At most one message each, within 2 s. Never rejects: the action must not depend on it. "asked": it is unknown. */
export async function tellPeople(
	{ connection, log, appeal }: Pick<FeatureOptions, "connection" | "log"> & { appeal: string | undefined },
	guild: Guild,
	userIds: readonly string[],
	notice: Notice,
): Promise<ReadonlyMap<string, Told>> {
	const content = noticeText(guild, notice, hasAppeal(notice.action) ? appeal : undefined);
	const outcomes = new Map<string, Told>();
	await withTimeout(() =>
		Promise.all(
			userIds.map(async (id) => {
				outcomes.set(id, "asked");
				try {
					outcomes.set(id, await tellOne(guild, id, connection, content));
				} catch (error) {
					if (!isOutcomeUnknown(error)) outcomes.set(id, "failed");
					if (describePlatformError(error) === undefined)
						log.error("could not send a direct message about a case", { guild: guild.id, error });
				}
			}),
		),
	);
	return outcomes;
}

async function tellOne(guild: Guild, id: string, connection: Connection, content: string): Promise<Told> {
	const { member } = await memberOrAbsent(guild, id, connection);
	// Discord delivers no direct message to people who share no guild with the bot.
	if (!member || member.user.bot) return "failed";
	const channel = await member.user.createDM();
	const body = { content, allowed_mentions: { parse: [] } };
	await guild.client.rest.post(Routes.channelMessages(channel.id), { body });
	return "yes";
}

function withTimeout<T>(work: () => Promise<T>): Promise<T> {
	const run = currentRun();
	const timeout = AbortSignal.timeout(timeoutMs);
	const endsAt = performance.now() + timeoutMs;
	return withinRun(
		{ ...run, mayWrite: true, reason: undefined, signal: timeout, endsAt: Math.min(run?.endsAt ?? Infinity, endsAt) },
		work,
	);
}

/** In the guild's language, because Discord does not tell bots the person's. */
export function noticeText(guild: Guild, notice: Notice, appeal: string | undefined): string {
	const { action, reason, endsAt, advice } = notice;
	const language = languageOf(guild.preferredLocale);
	const why = typeof reason === "string" ? inlineText(reason, maxReasonLength) : reason;
	return [
		said(`told.${action}`, { guild: inlineText(guild.name, maxNameLength) }),
		endsAt !== undefined && said("told.until", { end: formatEnd(endsAt) }),
		why && said("told.reason", { reason: why }),
		advice,
		appeal,
	]
		.flatMap((line) => (line ? render(line, language) : []))
		.join("\n");
}
