// Report on the setup of a running bot in a guild: one line per check.

import { type Guild, PermissionFlagsBits } from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import { guildName, roleName } from "../../discord/describe.ts";
import { unknownMembers } from "../../discord/find.ts";
import { isAllowedKind, limitsPruning } from "../../discord/guild-features.ts";
import { isSwitchedOn, type PrivilegedIntent, privilegedIntents } from "../../discord/intents.ts";
import { isObfuscated } from "../../discord/obfuscation.ts";
import {
	allBits,
	bitsIn,
	botMember,
	botPermissions,
	isAdministrator,
	type Needed,
	permissionNames,
} from "../../discord/permissions.ts";
import { cannotGiveRoles, roleProblem } from "../../discord/role-hierarchy.ts";
import { lacksTwoFactor, requiresTwoFactor, twoFactorAdvice } from "../../discord/two-factor.ts";
import { visibleChannels } from "../../discord/visible-channels.ts";
import { type Check, CheckFailed, type Found } from "../../lib/program/check.ts";
import { listFirst } from "../../lib/text.ts";
import type { GuildSettings } from "../settings/guild-settings.ts";
import { settingChecks } from "../settings/of-guild.ts";
import { selectLastProofs } from "../store/tables/guild-backups.ts";
import type { BotTool, Self } from "../tool/context.ts";
import { approvalChecks, proofChecks, requireLeast } from "./guild-checks.ts";
import { inviteUrl } from "./invite.ts";

interface SetupOptions {
	guild: Guild;
	/** In which tools may act. */
	guilds: readonly Guild[];
	connection: Connection;
	self: Self;
	settings: GuildSettings;
}

export async function reportSetup(options: SetupOptions): Promise<string[]> {
	const lines = await Promise.all(checksOf(options).map(lineOf));
	const count = (word: string) => lines.filter((line) => line.startsWith(`${word}: `)).length;
	return [
		`Setup in ${guildName(options.guild)}: ${count("ok")} ok, ${count("warning")} warning(s), ${count("error")} error(s).`,
		...lines,
	];
}

async function lineOf({ title, run }: Check): Promise<string> {
	try {
		const found = await run();
		if (typeof found === "object") return `warning: ${title}: ${found.warning}`;
		return `ok: ${title}${found === undefined ? "" : `: ${found}`}`;
	} catch (error) {
		if (!(error instanceof CheckFailed)) throw error;
		const { message, nextStep } = error;
		return `error: ${title}: ${message}${nextStep ? `. Next step: ${nextStep}` : ""}`;
	}
}

function checksOf(options: SetupOptions): Check[] {
	const { guild, guilds, connection, self, settings } = options;
	const { tools, toml, store } = self;
	const guildOnly = () => [guild];
	return [
		{ title: "guilds", run: () => guilds.map(guildName).join(", ") },
		{ title: "Discord's Gateway", run: () => checkGateway(guild, connection) },
		{ title: "members", run: () => checkMembers(guild, connection) },
		{
			title: "database",
			run: () =>
				store.state === "ready"
					? store.state
					: {
							warning: `the state of the database is "${store.state}"; features that need the database report an error`,
						},
		},
		...intentChecks(tools, guild),
		{
			title: "permissions",
			run: () => {
				requireLeast(guild, toml);
				return "all that every tool and enabled feature needs";
			},
		},
		...permissionChecks(tools, guild),
		...featureChecks(tools, guild),
		...twoFactorChecks(guild),
		{ title: "rank", run: () => checkRank(guild) },
		{ title: "Administrator roles", run: () => checkAdministratorRoles(guild) },
		{ title: "channels", run: () => checkChannels(guild) },
		...(store.state === "ready" ? proofChecks(toml, () => selectLastProofs(store.sql), guildOnly) : []),
		...approvalChecks(toml, (id) => settings.of(id), guildOnly),
		...settingChecks(settings.state(guild.id), () => guild),
	];
}

function checkGateway(guild: Guild, connection: Connection): Found {
	const { state, shards } = connection;
	const of = shards.length > 1 ? `, shard ${connection.shardOf(guild)} of ${shards.length}` : "";
	if (state.connected || connection.isConnected(guild)) return `connected${of}`;
	return { warning: `the bot is not connected (${state.reason}), so its data of guilds may be outdated` };
}

function checkMembers(guild: Guild, connection: Connection): Found {
	const { size } = guild.members.cache;
	const warning = unknownMembers(guild, connection);
	return warning === undefined ? `all ${size} are known` : { warning };
}

function intentChecks(tools: readonly BotTool[], guild: Guild): Check[] {
	const names = Object.keys(privilegedIntents) as PrivilegedIntent[];
	return names.flatMap((name) => {
		const intent = privilegedIntents[name];
		const dependents = tools.filter(({ needs }) => needs.intents.includes(name)).map((tool) => tool.name);
		if (dependents.length === 0) return [];
		return {
			title: intent.title,
			run() {
				if (isSwitchedOn(guild.client, intent)) return "switched on";
				throw new CheckFailed(
					`the ${intent.title} is switched off, but these tools need it: ${shortList(dependents)}`,
					`The operator of the bot can switch the ${intent.title} on in the developer portal (Bot), and restart the bot`,
				);
			},
		};
	});
}

function permissionChecks(tools: readonly BotTool[], guild: Guild): Check[] {
	const has = botPermissions(guild, undefined);
	const dependents = new Map<bigint, Set<string>>();
	for (const tool of tools)
		for (const [bit, when] of needsOf(tool)) {
			if ((has & bit) !== 0n) continue;
			const names = dependents.get(bit) ?? new Set();
			dependents.set(bit, names.add(`${tool.name}${when}`));
		}
	return [...dependents].map(([bit, names]) => ({
		title: permissionNames(bit).join(", "),
		run: () => ({
			warning: `the bot lacks ${permissionNames(bit).join(", ")} in the guild as a whole, but these tools need it: ${shortList([...names])}. Next step: unless the channels allow it, give the permission to the bot's role, or invite the bot again: ${inviteUrl(guild.client.application.id, bit | (has & allBits))}`,
		}),
	}));
}

// `when`: the argument that needs it, such as " (with user_ids)", or empty.
function needsOf({ needs }: BotTool): [bit: bigint, when: string][] {
	const toEntry = (needed: Needed<never>): [bigint, string] => {
		if (typeof needed === "string") return [bitsIn(undefined, [needed]), ""];
		const when = "inGuild" in needed ? "" : ` (with ${String(needed.with)})`;
		return [bitsIn(undefined, [needed.permission]), when];
	};
	return needs.permissions.map(toEntry);
}

function featureChecks(tools: readonly BotTool[], guild: Guild): Check[] {
	const offers = (...names: string[]) => tools.some(({ name }) => names.includes(name));
	const checks: Check[] = [];
	const kinds = ["stage", "announcement"].filter((kind) => !isAllowedKind(guild, kind));
	if (kinds.length > 0 && offers("create_channel"))
		checks.push({ title: "community", run: () => `off, so that the guild can have no ${kinds.join(" or ")} channels` });
	if (offers("create_channel", "edit_channel"))
		checks.push({
			title: "boosts",
			run: () => `level ${guild.premiumTier}, with at most ${guild.maximumBitrate} bit/s in voice channels`,
		});
	if (limitsPruning(guild) && offers("prune_members"))
		checks.push({
			title: "pruning",
			run: () =>
				isAdministrator(botMember(guild))
					? "for administrators only, as the bot is"
					: {
							warning:
								"the guild lets only administrators prune members (PRUNE_REQUIRES_ADMIN), and refuses prune_members to the bot",
						},
		});
	return checks;
}

function twoFactorChecks(guild: Guild): Check[] {
	if (!requiresTwoFactor(guild)) return [];
	return [
		{
			title: "two-factor authentication",
			async run() {
				if (!(await lacksTwoFactor(guild))) return "required by the guild, and enabled";
				throw new CheckFailed(
					"the guild requires two-factor authentication for moderation, but the bot's owner has not enabled it",
					twoFactorAdvice,
				);
			},
		},
	];
}

function checkRank(guild: Guild): Found {
	const me = botMember(guild);
	const { highest } = me.roles;
	if (guild.ownerId === me.id) return "the bot owns the guild";
	if (highest.id === guild.id)
		throw new CheckFailed(
			"the bot has no role, so it cannot manage any role or member",
			"In the guild's settings, give the bot a role, and drag it above the roles that the bot is to manage",
		);
	const above = guild.roles.cache
		.filter((role) => role.id !== highest.id && highest.comparePositionTo(role) <= 0)
		.sort((a, b) => b.comparePositionTo(a));
	const count = guild.roles.cache.size - above.size - 1;
	const name = roleName(highest);
	if (above.size === 0) return `${name} ranks above all other roles (${count})`;
	return {
		warning: `${name} ranks above ${count} role(s), but below ${above.size}, so the bot cannot manage these and their members: ${shortList([...above.values()].map(roleName))}. Next step: if the bot should manage them, drag ${name} above them in the guild's settings`,
	};
}

/** A bot can give any role below its highest, whatever that role allows. */
function checkAdministratorRoles(guild: Guild): Found {
	const roles = guild.roles.cache.filter(({ permissions }) =>
		permissions.has(PermissionFlagsBits.Administrator, false),
	);
	const reachable = cannotGiveRoles(guild)
		? []
		: [...roles.values()].filter((role) => roleProblem(guild, role) === undefined);
	if (reachable.length === 0) return "the bot can give none";
	const names = shortList(reachable.map(roleName));
	return {
		warning: `the bot can make anyone an administrator, because it ranks above ${names}. Next step: drag each above ${roleName(botMember(guild).roles.highest)} in the guild's settings, unless the bot is meant to do so`,
	};
}

function checkChannels(guild: Guild): Found {
	const channels = [...visibleChannels(guild).values()].filter((channel) => !channel.isThread());
	const hidden = channels.filter(isObfuscated);
	if (hidden.length === 0) return `the bot sees all ${channels.length}`;
	return {
		warning: `${hidden.length} of ${channels.length} channels are hidden from the bot: ${shortList(hidden.map(({ id }) => `ID ${id}`))}. Next step: if the bot should see them, allow its role VIEW_CHANNEL in their settings`,
	};
}

const maxListed = 10;

function shortList(items: readonly string[]): string {
	return listFirst(items, maxListed, ", ");
}
