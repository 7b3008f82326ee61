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
import { said } from "../../../texts/texts.ts";
import { spamIncidentRows } from "../../store/tables/spam-incidents.ts";
import { ignoreUnavailable } from "../../store/unavailable.ts";
import { caseOf, type Incident, newIncident, toRow } from "./incident.ts";
import type { IncidentsOptions } from "./incidents.ts";

const maxCopies = 20;

type Seen = Incident & Required<Pick<Incident, "automod">>;

/** `isFound`: whether there is an incident of the bot itself. */
export function createAutomodLog(options: IncidentsOptions & { isFound(guildId: string, userId: string): boolean }) {
	const { settings, connection, store, log, cases, entries, isFound, timing, now } = options;
	const open = new Map<string, Seen>();

	function begin({ guild, userId, ruleId }: AutoModerationActionExecution): Seen {
		const at = now();
		const id = String(SnowflakeUtil.generate({ timestamp: at }));
		const rule = said("automod.reason", { rule: ruleId });
		const automod = { ruleId, blocked: 0, isBarred: false, copies: [], timer: undefined };
		const found = { guildId: guild.id, id, userId, rule, detectedAt: at, until: at, isDry: false };
		return { ...newIncident(found), automod };
	}

	async function nameRule(incident: Seen): Promise<void> {
		const path = Routes.guildAutoModerationRule(incident.guildId, incident.automod.ruleId);
		const { name } = (await connection.discord.rest.get(path)) as APIAutoModerationRule;
		incident.rule = said("automod.reason", { rule: name });
	}

	async function write(key: string, incident: Seen): Promise<void> {
		const { guildId, userId, automod, timeout } = incident;
		automod.timer = undefined;
		if (incident.state !== "done" && isFound(guildId, userId)) {
			open.delete(key);
			return;
		}
		// The rule may be gone: then its id stands for it.
		await nameRule(incident).catch(() => {});
		const isCase = timeout === "done" || (automod.blocked > 0 && settings.of(guildId)["automod.counts"]);
		const detail = automod.blocked > 0 ? [said("automod.blocked", { count: automod.blocked })] : [];
		const more = { detail, moderatorId: connection.user?.id ?? "", endsAt: timeout && incident.until };
		if (isCase)
			incident.caseNumber ??= await cases
				.add(guildId, { ...caseOf(incident, "automod"), ...more }, true)
				.catch(ignoreUnavailable);
		await entries.write(incident);
		incident.state = "done";
		await spamIncidentRows.save(store.sql, [toRow(incident)]).catch(ignoreUnavailable);
		automod.timer ??= setTimeout(() => open.delete(key), timing.watchMs).unref();
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
			const incident = open.getOrInsertComputed(key, () => begin(event));
			const { automod } = incident;
			if (action.type === Action.BlockMessage) automod.blocked += 1;
			if (action.type === Action.BlockMemberInteraction) automod.isBarred = true;
			if (action.type === Action.Timeout) {
				incident.timeout = "done";
				incident.until = now() + (action.metadata.durationSeconds ?? 0) * 1_000;
			}
			if (messageId !== null && channelId !== null) incident.messages.set(messageId, channelId);
			keepCopy(incident, event);
			const failed = (error: unknown) => log.error("could not log AutoMod: internal error", { error });
			if (incident.state === "done") clearTimeout(automod.timer);
			else if (automod.timer) return;
			automod.timer = setTimeout(() => void write(key, incident).catch(failed), timing.quietMs).unref();
		},
		release: (guildId: string, userId: string) => open.delete(`${guildId} ${userId}`),
	};
}
