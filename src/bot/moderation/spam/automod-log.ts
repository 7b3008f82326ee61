// What Discord's AutoMod does, as entries of the moderation log with the buttons of spam, and as cases. On in guilds with the
// setting automod.log. The actions of a rule, and what follows soon, are one entry; what the bot itself has found is none.
// https://docs.discord.com/developers/events/gateway-events#auto-moderation-action-execution

import {
	AutoModerationActionType as Action,
	type APIAutoModerationRule,
	type AutoModerationActionExecution,
	Routes,
	SnowflakeUtil,
} from "discord.js";
import { render, said } from "../../../texts/texts.ts";
import { type FeatureOptions, Pending } from "../../commands/feature.ts";
import type { GuildSettings } from "../../settings/guild-settings.ts";
import { saveSpamIncident } from "../../store/tables/spam-incidents.ts";
import { ignoreUnavailable } from "../../store/unavailable.ts";
import type { NewCase } from "../cases/case.ts";
import type { Cases } from "../cases/cases.ts";
import { type Incident, newIncident, toRow } from "./incident.ts";
import type { IncidentsTiming } from "./incidents.ts";
import type { createEntries } from "./log-entry.ts";

const maxOpen = 1_000;
const maxCopies = 20;

interface AutomodLogOptions extends Pick<FeatureOptions, "connection" | "store" | "log"> {
	settings: Pick<GuildSettings, "of">;
	cases: Pick<Cases, "add">;
	entries: ReturnType<typeof createEntries>;
	/** Whether there is an incident of the bot itself. */
	isFound(guildId: string, userId: string): boolean;
	timing: IncidentsTiming;
	now(): number;
}

type Seen = Incident & Required<Pick<Incident, "automod">>;

export function createAutomodLog(options: AutomodLogOptions) {
	const { settings, connection, store, log, cases, entries, isFound, timing, now } = options;
	const open = new Map<string, Seen>();
	const work = new Pending();

	function begin({ guild, userId: id, ruleId }: AutoModerationActionExecution): Seen {
		const detectedAt = now();
		const messageId = String(SnowflakeUtil.generate({ timestamp: detectedAt }));
		const rule = said("automod.reason", { rule: ruleId });
		const found = { member: { id, guild }, messageId, rule, hashes: new Set<string>() };
		const automod = { ruleId, blocked: 0, isBarred: false, copies: [], timer: undefined };
		return Object.assign(newIncident(found, { detectedAt, until: detectedAt, isDry: false }), { automod });
	}

	async function storeCase({ guildId, id, userId, ...incident }: Seen): Promise<number | undefined> {
		const { automod, timeout, messages, rule, detectedAt, until } = incident;
		const counts = settings.of(guildId)["automod.counts"] && automod.blocked > 0;
		if (incident.caseNumber !== undefined || (timeout !== "done" && !counts)) return incident.caseNumber;
		const one: NewCase = {
			action: "automod",
			userId,
			messageIds: [...messages.keys()],
			channelIds: [...new Set(messages.values())],
			detail: automod.blocked > 0 ? [said("automod.blocked", { count: automod.blocked })] : [],
			moderatorId: connection.user?.id ?? "",
			reason: render(rule, "en"),
			createdAt: detectedAt,
			endsAt: timeout === "done" ? until : undefined,
			source: `automod ${id}`,
		};
		return await cases.add(guildId, one, true).catch(ignoreUnavailable);
	}

	async function write(key: string, incident: Seen): Promise<void> {
		const { guildId, userId, automod, state } = incident;
		clearTimeout(automod.timer);
		automod.timer = undefined;
		if (state !== "done" && isFound(guildId, userId)) {
			open.delete(key);
			return;
		}
		try {
			const path = Routes.guildAutoModerationRule(guildId, automod.ruleId);
			const { name } = (await connection.discord.rest.get(path)) as APIAutoModerationRule;
			incident.rule = said("automod.reason", { rule: name });
		} catch {
			// The rule may be gone: its id stands for it.
		}
		incident.caseNumber = await storeCase(incident);
		await entries.write(incident);
		incident.state = "done";
		await saveSpamIncident(store.sql, toRow(incident)).catch(ignoreUnavailable);
		automod.timer ??= setTimeout(() => open.delete(key), timing.watchMs).unref();
	}

	function start(key: string, incident: Seen): void {
		const failed = (error: unknown) => log.error("could not log AutoMod: internal error", { error });
		void work.add(write(key, incident).catch(failed));
	}

	function keepCopy({ automod, id, userId }: Seen, { guild, channelId, content }: AutoModerationActionExecution): void {
		const { "log.evidence": isShown, "log.ignored": ignored } = settings.of(guild.id);
		const parentId = guild.channels.cache.get(channelId ?? "")?.parentId;
		const isKnown = automod.copies.some(({ text }) => text === content) || automod.copies.length === maxCopies;
		if (!isShown || channelId === null || content === "" || isKnown) return;
		if ([channelId, parentId].some((one) => one && ignored.includes(one))) return;
		automod.copies.push({ id, channelId, authorId: userId, at: now(), text: content, files: [] });
	}

	return {
		see(event: AutoModerationActionExecution): void {
			const { guild, userId, action, messageId, channelId } = event;
			const key = `${guild.id} ${userId}`;
			if (!settings.of(guild.id)["automod.log"] || isFound(guild.id, userId)) return;
			if (!open.has(key) && open.size >= maxOpen) return;
			const incident = open.get(key) ?? begin(event);
			const { automod } = incident;
			open.set(key, incident);
			if (action.type === Action.BlockMessage) automod.blocked += 1;
			if (action.type === Action.BlockMemberInteraction) automod.isBarred = true;
			if (action.type === Action.Timeout) {
				incident.timeout = "done";
				incident.until = now() + (action.metadata.durationSeconds ?? 0) * 1_000;
			}
			if (messageId !== null && channelId !== null) incident.messages.set(messageId, channelId);
			keepCopy(incident, event);
			if (incident.state === "done") clearTimeout(automod.timer);
			if (incident.state === "done" || automod.timer === undefined)
				automod.timer = setTimeout(() => start(key, incident), timing.quietMs);
		},
		release: (guildId: string, userId: string) => open.delete(`${guildId} ${userId}`),
		/** Writes what waits. */
		async close(): Promise<void> {
			for (const [key, incident] of open) if (incident.state !== "done") start(key, incident);
			await work.settled();
			for (const { automod } of open.values()) clearTimeout(automod.timer);
		},
	};
}
