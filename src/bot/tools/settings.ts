// The bot's own settings in a guild.

import type { Guild } from "discord.js";
import * as v from "valibot";
import { time } from "../../discord/describe.ts";
import { permitStoring } from "../../discord/rest/rest.ts";
import { inlineText, truncate } from "../../discord/text.ts";
import { rootPrincipal } from "../../lib/principal.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { consoleClient } from "../../mcp/console.ts";
import { listedAs } from "../../mcp/json-schema.ts";
import { SaidError } from "../../texts/said-error.ts";
import { joined, render, type Said, said, type Text } from "../../texts/texts.ts";
import { parts, result } from "../results/result.ts";
import {
	type Author,
	type Change,
	type GuildSettings,
	InvalidSettings,
	type Problem,
	problemsIn,
} from "../settings/guild-settings.ts";
import { isGrant, isKey, keyOf, kindOf } from "../settings/keys.ts";
import {
	defaultOf,
	describeValue,
	mentionValue,
	narrowed,
	problemsOf,
	referencesIn,
	requireUsable,
	whyDestructive,
	withIds,
	withTags,
} from "../settings/of-guild.ts";
import { commandIdStart } from "../tool/admission.ts";
import { flag, guild_id, integer, nameQuery, requireEither } from "../tool/arguments/arguments.ts";
import type { BotTool, ToolContext } from "../tool/context.ts";
import { editTool, readTool } from "../tool/define.ts";

export const manages = { may: "settings", permissions: [{ permission: "ManageGuild", inGuild: true }] } as const;

const getSettings = readTool({
	name: "get_settings",
	toolset: "guild",
	title: "Show the bot's settings",
	description:
		"The bot's own settings in a guild, each with what it does: welcome messages, roles for members and more. `history`: the last 50 changes.",
	person: manages,
	input: {
		guild_id,
		query: v.optional(nameQuery("Only keys with this, such as welcome.")),
		history: flag("The changes instead.", false),
	},
	async run({ query, history }, { guild, settings }) {
		if (history) {
			const revisions = await settings.history(guild.id);
			if (revisions.length === 0) return "Nothing was ever set.";
			return revisions.map(({ version, changed_at, changed_by, door, changes }) => {
				const who = changed_by === null ? "an assistant" : `user ${changed_by}`;
				const what = changes.map((one) => truncate(describeChange(guild, one), 1_000)).join("; ");
				return `version ${version}, ${time(changed_at)}, by ${who} with ${door}: ${what}`;
			});
		}
		await settings.ready();
		const state = settings.state(guild.id);
		const isAsked = (key: string) => query?.some((part) => key.includes(part.toLowerCase())) ?? true;
		const shown = settings.keys.filter(isAsked);
		if (shown.length === 0)
			throw new ToolError(
				`No key has ${JSON.stringify(query?.join(", "))} in it. The keys: ${settings.keys.join(", ")}.`,
			);
		const problems = problemsOf(guild, state).filter(({ key }) => isAsked(key));
		return [
			`Settings, version ${state.version}. set_settings changes them; null stands for the default.`,
			...shown.map((key) => {
				const value = state.stored[key];
				const byDefault = defaultOf(key);
				const names = kindOf(key) === "named texts" && !query ? Object.keys(value ?? {}) : undefined;
				const shown = describeValue(guild, key, names ?? value ?? byDefault);
				const other = value === undefined ? "" : `: ${describeValue(guild, key, byDefault)}`;
				const note = byDefault === undefined ? "" : ` (default${other})`;
				return `${key}: ${shown}${note}. ${render(said(`setting.${key}`), "en")}.`;
			}),
			...problems.map(({ key, message }) => `Problem with ${key}: ${message}.`),
		];
	},
});

const setSettings = editTool({
	name: "set_settings",
	toolset: "guild",
	title: "Change the bot's settings",
	description:
		'Change several of the bot\'s settings in a guild, such as {"welcome.channel":"#hello"}. get_settings describes the keys.',
	lock: ({ guild_id }, { guildId }) => [`settings of ${guild_id || guildId}`],
	person: {
		...manages,
		mayWith: ({ settings }) =>
			settings && Object.keys(settings).every((key) => /^tags(\.|$)/.test(key)) ? "tags" : undefined,
	},
	input: {
		guild_id,
		settings: v.optional(
			v.pipe(
				v.record(v.string(), v.unknown()),
				listedAs({ type: "object", description: "Values by key; null: the default. #channel and @Role will do." }),
			),
		),
		restore_version: v.optional(integer(1, 2 ** 31, "All settings as they were in this version.")),
		if_version: v.optional(integer(0, 2 ** 31, "Only if this is the version.")),
	},
	async destructive({ settings: given = {}, restore_version }, { guild, settings }) {
		await settings.ready();
		let wanted = restore_version === undefined ? undefined : (await restoring(guild, settings, restore_version)).wanted;
		// Runs before the arguments are checked.
		problemsIn(() => {
			wanted ??= withIds(guild, given);
		});
		return whyDestructive(guild, settings.state(guild.id).stored, wanted ?? {});
	},
	async plan({ settings: given, restore_version, if_version }, context) {
		const { guild, settings, self } = context;
		requireEither({ settings: given, restore_version }, ["settings", "restore_version"], "one of the two");
		await settings.ready();
		const { version } = settings.state(guild.id);
		if (if_version !== undefined && if_version !== version)
			throw new SaidError(said("settings.stale"), {
				models: `Somebody changed the settings meanwhile: they are version ${version} now. Nothing was done.`,
			});
		const { wanted, gone } =
			restore_version === undefined
				? { wanted: orRefuse(() => withIds(guild, withTags(settings.state(guild.id).stored, given ?? {}))), gone: [] }
				: await restoring(guild, settings, restore_version);
		if (!wanted) throw new ToolError(`There is no version ${restore_version}: get_settings with history lists them.`);
		const changes = orRefuse(() => settings.changes(guild.id, wanted));
		const changed = Object.fromEntries(changes.map(({ key, after }) => [key, after]));
		const warnings = orRefuse(() => requireUsable(guild, settings.state(guild.id).stored, changed));
		const grants = changes.some(({ key, after }) => isGrant(key) && [after ?? []].flat().length > 0);
		const report = (word: string, problems: readonly Problem[]) =>
			parts(
				changes.length === 0 && result("Nothing to change: all of it is so already.", said("result.settings_same")),
				...changes.map((one) => result(describeChange(guild, one), saidChange(one))),
				...problems.map((one) => result(`${word} ${one.key}: ${one.message}.`, saidProblem(one))),
				...gone.map((one) => result(`Not restored: ${one.key}: ${one.message}.`, saidProblem(one))),
				self.toml.commands === "global" && grants && commandsHidden,
			);
		return {
			preview: report("Warning for", warnings),
			async act() {
				permitStoring();
				await settings.change(guild.id, wanted, authorOf(context));
				const others = problemsOf(guild, settings.state(guild.id)).filter(({ key }) => key in changed);
				const isFine = others.length === 0 && changes.some(({ key }) => isKey(key) && keyOf(key).to);
				return parts(report("Problem with", others), isFine && result(checked));
			},
		};
	},
});

const checked = "Checked: the bot can use these channels and roles, and what is for staff is not public.";

export const settingTools: readonly BotTool[] = [getSettings, setSettings];

/** As far as its channels and roles exist: the keys of others stay as they are. */
async function restoring(guild: Guild, settings: GuildSettings, version: number) {
	const wanted = await settings.restoring(guild.id, version);
	const gone = referencesIn(wanted ?? {}).flatMap(({ key, to, id }): Problem[] => {
		const { cache } = to === "channel" ? guild.channels : guild.roles;
		return cache.has(id) ? [] : [{ key, message: `${to === "channel" ? to : "role"} ${id} does not exist any more` }];
	});
	for (const { key } of gone) delete wanted?.[key];
	return { wanted, gone };
}

/**
 * A bot cannot change who sees a command: that takes a Bearer token of a person. A second command of the guild would be shown
 * beside the one of all guilds. https://github.com/discord/discord-api-docs/issues/3885
 * https://docs.discord.com/developers/interactions/application-commands#edit-application-command-permissions
 */
const commandsHidden = result(render(said("result.commands_hidden"), "en"), said("result.commands_hidden"));

function describeChange(guild: Guild, change: Change): string {
	const { key, before, after } = narrowed(change);
	return `${key}: ${describeValue(guild, key, before)} → ${describeValue(guild, key, after)}`;
}

function labelOf(key: string): Text {
	return isKey(key) ? said(`setting.${key}.label`) : key;
}

function saidProblem(problem: Problem): Said {
	const message = problem.said ?? inlineText(problem.message, 300);
	return said("setting.problem", { label: labelOf(problem.key), message });
}

function saidChange(change: Change): Said {
	const { key, before, after } = narrowed(change);
	const shown = (value: unknown) => mentionValue(key, value) ?? said("setting.unset");
	return said("result.setting", { label: labelOf(key), before: shown(before), after: shown(after) });
}

function authorOf({ principal }: Pick<ToolContext, "principal">): Author {
	const { id = "", name, client, person } = principal ?? {};
	const isConsole = id.startsWith("console:") || (id === rootPrincipal.id && client === consoleClient);
	// A command's principal is called like the command.
	const door = name !== undefined && id.startsWith(commandIdStart) ? name : isConsole ? "console" : "set_settings";
	return { userId: person?.id ?? null, door };
}

export function orRefuse<T>(work: () => T): T {
	try {
		return work();
	} catch (error) {
		if (!(error instanceof InvalidSettings)) throw error;
		throw new SaidError(said("refusal.settings", { problems: joined(error.problems.map(saidProblem)) ?? "" }), {
			models: `${error.message}\nNothing was done.`,
		});
	}
}
