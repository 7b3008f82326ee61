// AutoMod rules and which of them a text violates. Rules for spam, preset word lists, regex patterns, raids and profiles are
// stored but not applied.
// https://discord.com/developers/docs/resources/auto-moderation

import {
	AuditLogEvent,
	PermissionFlagsBits as Permission,
	AutoModerationRuleTriggerType as Trigger,
} from "discord.js";
import { changesBetween } from "../state/audit-log.ts";
import type { AutoModerationRule, Guild } from "../state/entities.ts";
import type { EventType } from "../state/events.ts";
import {
	type Attribution,
	apply,
	type Changes,
	type State,
} from "../state/state.ts";

export type NewRule = Omit<AutoModerationRule, "id" | "guild_id">;

export type RuleChanges = Changes<
	Omit<
		AutoModerationRule,
		"id" | "guild_id" | "creator_id" | "event_type" | "trigger_type"
	>
>;

/** A rule that a text violates. */
export interface Violation {
	readonly rule: AutoModerationRule;
	/** The rule's keyword and the text that it matched; null for mention rules. */
	readonly keyword: string | null;
	readonly content: string | null;
}

export class AutoModeration {
	readonly #state: State;
	readonly #all = new Map<string, AutoModerationRule>();

	constructor(state: State) {
		this.#state = state;
	}

	/** The rules of a guild, oldest first. */
	in({ id }: Guild): AutoModerationRule[] {
		return [...this.#all.values()].filter(({ guild_id }) => guild_id === id);
	}

	add(guild: Guild, given: NewRule, by?: Attribution): AutoModerationRule {
		const rule = { id: this.#state.newId(), guild_id: guild.id, ...given };
		this.#all.set(rule.id, rule);
		this.#dispatch("AUTO_MODERATION_RULE_CREATE", guild, rule);
		this.#state.audit(
			guild,
			by,
			AuditLogEvent.AutoModerationRuleCreate,
			rule.id,
			{ changes: changesBetween({}, auditFields(rule)) },
		);
		return rule;
	}

	edit(
		guild: Guild,
		rule: AutoModerationRule,
		changes: RuleChanges,
		by?: Attribution,
	): void {
		const before = auditFields(rule);
		apply(rule, changes);
		this.#dispatch("AUTO_MODERATION_RULE_UPDATE", guild, rule);
		this.#state.audit(
			guild,
			by,
			AuditLogEvent.AutoModerationRuleUpdate,
			rule.id,
			{ changes: changesBetween(before, changes) },
		);
	}

	remove(guild: Guild, rule: AutoModerationRule, by?: Attribution): void {
		this.#all.delete(rule.id);
		this.#dispatch("AUTO_MODERATION_RULE_DELETE", guild, rule);
		this.#state.audit(
			guild,
			by,
			AuditLogEvent.AutoModerationRuleDelete,
			rule.id,
			{ changes: changesBetween(auditFields(rule), {}) },
		);
	}

	/** The rules that a text violates in these channels (a thread and its parent) for an author with these roles. */
	violations(
		guild: Guild,
		written: {
			text: string;
			channelIds: readonly string[];
			roleIds: readonly string[];
		},
	): Violation[] {
		return this.in(guild)
			.filter(
				({ enabled, exempt_channels, exempt_roles }) =>
					enabled &&
					!exempt_channels.some((id) => written.channelIds.includes(id)) &&
					!exempt_roles.some((id) => written.roleIds.includes(id)),
			)
			.flatMap((rule) => violationOf(rule, written.text));
	}

	#dispatch(type: EventType, guild: Guild, rule: AutoModerationRule): void {
		this.#state.dispatchToGuild(type, guild, () => ({ ...rule }), managersOnly);
	}
}

/** Rule events are only sent to members with MANAGE_GUILD. */
export const managersOnly = {
	permission: { bits: Permission.ManageGuild },
};

function auditFields(rule: AutoModerationRule): Record<string, unknown> {
	const { id: _, guild_id: __, creator_id: ___, ...rest } = rule;
	return rest;
}

function violationOf(rule: AutoModerationRule, text: string): Violation[] {
	const { trigger_metadata: metadata, trigger_type } = rule;
	if (trigger_type === Trigger.MentionSpam) {
		const mentions = new Set(text.match(/<@[!&]?\d+>/g));
		const isTooMany = mentions.size > (metadata.mention_total_limit ?? 50);
		return isTooMany ? [{ rule, keyword: null, content: null }] : [];
	}
	if (trigger_type !== Trigger.Keyword) return [];
	const allowed = metadata.allow_list ?? [];
	for (const keyword of metadata.keyword_filter ?? []) {
		for (const [content] of text.matchAll(patternOf(keyword)))
			if (!allowed.some((word) => patternOf(word).test(content)))
				return [{ rule, keyword, content }];
	}
	return [];
}

/** A keyword matches a whole word. A "*" at its start or end matches the rest of a word. */
function patternOf(keyword: string): RegExp {
	const [, before, word = "", after] = /^(\*?)(.*?)(\*?)$/s.exec(keyword) ?? [];
	const letter = "[\\p{L}\\p{N}_]";
	return new RegExp(
		[
			before ? `${letter}*` : `(?<!${letter})`,
			RegExp.escape(word),
			after ? `${letter}*` : `(?!${letter})`,
		].join(""),
		"giu",
	);
}
