// AutoMod rules and which of them a text violates. Rules for spam, preset word lists, regex patterns, raids and profiles are
// stored but not applied.
// https://discord.com/developers/docs/resources/auto-moderation
//
// A gap: AutoMod rules for spam, preset lists, raids and profiles are stored and not applied; only message content is
// checked, with regex patterns as JavaScript reads them. The audit log has no entries for executions (143 to 146).

import { PermissionFlagsBits as Permission, AutoModerationRuleTriggerType as Trigger } from "discord.js";
import type { AutoModerationRule, Guild } from "../state/entities.ts";
import type { Verb } from "../state/events.ts";
import { GuildObjects } from "../state/guild-objects.ts";
import type { Attribution, Changes, State } from "../state/state.ts";

export type NewRule = Omit<AutoModerationRule, "id" | "guild_id">;

export interface Violation {
	rule: AutoModerationRule;
	/** The rule's keyword that matched the text, or null if the rule limits the number of mentions instead. */
	keyword: string | null;
	content: string | null;
}

const noKeywords = { keyword_filter: [], regex_patterns: [], allow_list: [] };

/** What the trigger metadata of a rule without any has. */
export const emptyMetadata: Partial<Record<Trigger, AutoModerationRule["trigger_metadata"]>> = {
	[Trigger.Keyword]: noKeywords,
	[Trigger.MemberProfile]: noKeywords,
	[Trigger.KeywordPreset]: { presets: [], allow_list: [] },
	[Trigger.MentionSpam]: { mention_total_limit: 50, mention_raid_protection_enabled: false },
};

export class AutoModeration extends GuildObjects<AutoModerationRule> {
	constructor(state: State) {
		super(state, "AutoModerationRule");
	}

	add(guild: Guild, given: NewRule, by?: Attribution): AutoModerationRule {
		const rule = {
			id: this.state.nextId(),
			guild_id: guild.id,
			...given,
			trigger_metadata: { ...emptyMetadata[given.trigger_type], ...given.trigger_metadata },
		};
		return this.insert(rule, rule, by);
	}

	/** Ignores rules that exempt the message's channel or one of the author's roles. */
	violations(
		guild: Guild,
		written: { text: string; channelIds: readonly string[]; roleIds: readonly string[] },
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

	protected dispatch(verb: Verb, guild: Guild, rule: AutoModerationRule): void {
		this.state.dispatchToGuild(`AUTO_MODERATION_RULE_${verb}`, guild, { ...rule }, managersOnly);
	}

	protected logged({ id: _, guild_id: __, creator_id: ___, ...rest }: Changes<AutoModerationRule>): object {
		return rest;
	}
}

/** Restricts a Gateway event to members with MANAGE_GUILD, as Discord does for events about AutoMod rules. */
export const managersOnly = { permission: { bits: Permission.ManageGuild } };

function violationOf(rule: AutoModerationRule, text: string): Violation[] {
	const { trigger_metadata: metadata, trigger_type } = rule;
	if (trigger_type === Trigger.MentionSpam) {
		const isTooMany = new Set(text.match(/<@[!&]?\d+>/g)).size > (metadata.mention_total_limit ?? 0);
		return isTooMany ? [{ rule, keyword: null, content: null }] : [];
	}
	if (trigger_type !== Trigger.Keyword) return [];
	const allowed = metadata.allow_list ?? [];
	const keywords = (metadata.keyword_filter ?? []).map((keyword) => [keyword, patternOf(keyword)] as const);
	const regexes = (metadata.regex_patterns ?? []).map((pattern) => [pattern, new RegExp(pattern, "gi")] as const);
	for (const [keyword, pattern] of [...keywords, ...regexes]) {
		for (const [content] of text.matchAll(pattern))
			if (!allowed.some((word) => patternOf(word).test(content))) return [{ rule, keyword, content }];
	}
	return [];
}

function patternOf(keyword: string): RegExp {
	const [, before, word = "", after] = /^(\*?)(.*?)(\*?)$/s.exec(keyword) ?? [];
	const letter = "[\\p{L}\\p{N}_]";
	return new RegExp(
		[before ? `${letter}*` : `(?<!${letter})`, RegExp.escape(word), after ? `${letter}*` : `(?!${letter})`].join(""),
		"giu",
	);
}
