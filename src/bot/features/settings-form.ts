// Answers the request guildhall/settings, with which the gateway's console shows the settings of a guild as a form.

import { ChannelType, type Guild } from "discord.js";
import * as v from "valibot";
import { channelLabel, memberName, roleLabel } from "../../discord/describe.ts";
import { visibleChannels } from "../../discord/visible-channels.ts";
import type { Principal } from "../../lib/principal.ts";
import { consoleMethods } from "../../mcp/console.ts";
import { errorCode, RpcError } from "../../mcp/json-rpc.ts";
import { methodNotFound, type OtherMethod, type Selection } from "../../mcp/server.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { sayIn } from "../../texts/texts.ts";
import { type GuildSettings, problemsIn, read, type Stored } from "../settings/guild-settings.ts";
import { allKeys, choicesOf, isKey, kindOf, type SettingKey, sectionOf, sectionsIn } from "../settings/keys.ts";
import { defaultOf, problemsOf, requireUsable, typedLines, withIds } from "../settings/of-guild.ts";
import { daysAt, selectUse } from "../store/tables/chat.ts";
import { ignoreUnavailable } from "../store/unavailable.ts";
import { guild_id } from "../tool/arguments/arguments.ts";
import type { BotContext, Self } from "../tool/context.ts";
import { readTool } from "../tool/define.ts";
import { manages } from "../tools/settings.ts";
import { greetingPreviews } from "./greeting.ts";
import { sectionTitle } from "./settings-panel.ts";

const calls = { change: "set_settings", menu: "create_role_menu" };

const say = sayIn("en");
/** To choose from; others can be typed. */
const maxMembers = 300;

/** Not in the list of tools: for its checks of what a person may see. */
const form = readTool({
	name: consoleMethods.settings,
	toolset: "guild",
	title: "",
	description: "",
	person: manages,
	input: { guild_id, values: v.optional(v.record(v.string(), v.unknown())), history: v.optional(v.boolean(), false) },
	async run({ values, history }, { guild, settings, self }) {
		if (history) return JSON.stringify({ revisions: await revisionsOf(guild, settings) });
		await settings.ready();
		return JSON.stringify({
			...checked(guild, settings, values ?? {}),
			...(!values && {
				sections: sectionsOf(guild, settings.keys, settings.state(guild.id).stored, await noteOnChat(guild.id, self)),
				lists: listsOf(guild),
			}),
		});
	},
});

/** A person has to be able to change what the form shows. */
export function createSettingsForm(select: (principal: Principal | undefined) => Selection<BotContext>): OtherMethod {
	return async (params, { principal, signal }) => {
		if (principal && !principal.person?.signedIn) throw methodNotFound(consoleMethods.settings);
		if (typeof params.guild_id !== "string") throw invalidParameters(["guild_id: expected an id"]);
		const { set, context } = select(principal);
		const { refusal } = set.resolve(calls.change, {});
		if (refusal !== undefined) throw new RpcError(errorCode.internal, refusal);
		const { content, isError } = JSON.parse(await form.call(params, context, { signal, reportProgress() {} }));
		const { text } = content[0];
		if (isError) throw new RpcError(errorCode.internal, text);
		const allowed = Object.entries(calls).filter(([, name]) => context.self.tools.some((tool) => tool.name === name));
		return JSON.stringify({ ...JSON.parse(text), calls: Object.fromEntries(allowed) });
	};
}

/** What the settings would be with `wanted`. */
function checked(guild: Guild, settings: GuildSettings, entered: Stored) {
	const { version, stored } = settings.state(guild.id);
	let wanted = entered;
	const problems = [
		() => {
			wanted = withIds(guild, entered);
		},
		() => settings.changes(guild.id, wanted),
		() => requireUsable(guild, stored, wanted),
	].flatMap(problemsIn);
	const wrong = new Set(problems.map(({ key }) => key));
	const kept = Object.entries({ ...stored, ...wanted }).filter(([key, value]) => value !== null && !wrong.has(key));
	const draft = Object.fromEntries(kept);
	const state = { stored: draft, ...read(draft) };
	return { version, problems, warnings: problemsOf(guild, state), previews: greetingPreviews(guild, state.values) };
}

function sectionsOf(guild: Guild, keys: readonly SettingKey[], stored: Stored, noteOnChat: string | undefined) {
	return sectionsIn(keys).map((name) => ({
		title: sectionTitle(name, say),
		note: name === "chat" ? noteOnChat : undefined,
		fields: keys
			.filter((key) => sectionOf(key) === name)
			.map((key) => ({
				key,
				label: say(`setting.${key}.label`),
				help: say(`setting.${key}`),
				...inputOf(key),
				value: shownValue(guild, key, stored[key]) ?? null,
				default: shownValue(guild, key, defaultOf(key)) ?? null,
			})),
	}));
}

/** Undefined while the store is down. */
async function noteOnChat(guild_id: string, { store, toml }: Self): Promise<string | undefined> {
	const use = await selectUse(store.sql, daysAt(Date.now(), toml.timezone), { guild_id }).catch(ignoreUnavailable);
	const [{ questions_today: questions = 0, tokens_today: today = 0, tokens_this_month: month = 0 } = {}] = use ?? [];
	return use && say("setting.chat.use", { questions, today, month });
}

/** As the form takes it. */
function shownValue(guild: Guild, key: string, value: unknown): unknown {
	return isKey(key) && kindOf(key) === "named roles" && value !== undefined ? typedLines(guild, value) : value;
}

function inputOf(key: SettingKey): { kind: string; list?: string } {
	const kind = kindOf(key);
	if (kind === "choices") return { kind: "many", list: key };
	if (kind === "named roles") return { kind: "lines" };
	const [, list, isMany] = /^(channel|role)(s?)$/.exec(kind) ?? [];
	return list ? { kind: isMany ? "many" : "one", list } : { kind };
}

function listsOf(guild: Guild) {
	const { GuildText, GuildAnnouncement } = ChannelType;
	const channels = visibleChannels(guild).filter(({ type }) => type === GuildText || type === GuildAnnouncement);
	const roles = [...guild.roles.cache.values()].filter(({ id }) => id !== guild.id);
	const members = [...guild.members.cache.values()].sort((a, b) => a.displayName.localeCompare(b.displayName));
	const choices = allKeys.filter((key) => kindOf(key) === "choices");
	return {
		channel: channels
			.map((channel) => ({ id: channel.id, name: channelLabel(channel) }))
			.sort((a, b) => a.name.localeCompare(b.name)),
		role: roles.sort((a, b) => b.comparePositionTo(a)).map((role) => ({ id: role.id, name: roleLabel(role) })),
		member: members.slice(0, maxMembers).map((member) => ({ id: member.id, name: memberName(member) })),
		...Object.fromEntries(choices.map((key) => [key, choicesOf(key).map((name) => ({ id: name, name }))])),
	};
}

async function revisionsOf(guild: Guild, settings: GuildSettings) {
	const all = await settings.history(guild.id);
	return all.map(({ version, changed_at, changed_by, door, changes }) => ({
		version,
		at: Number(changed_at),
		by: changed_by === null ? null : (guild.members.cache.get(changed_by)?.displayName ?? `user ${changed_by}`),
		door,
		changes: changes.map(({ key, before, after }) => ({
			key,
			before: shownValue(guild, key, before),
			after: shownValue(guild, key, after),
		})),
	}));
}
