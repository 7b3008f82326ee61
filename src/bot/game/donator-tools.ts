// The tools list_donators and sync_donators.

import type { Guild, GuildMember } from "discord.js";
import * as v from "valibot";
import { guildName, memberFields, roleName } from "../../discord/describe.ts";
import { oneField, oneLine } from "../../discord/text.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { said } from "../../texts/texts.ts";
import { asking, type Result } from "../results/result.ts";
import { guild_id, integer, limit } from "../tool/arguments/arguments.ts";
import { sample } from "../tool/bulk.ts";
import type { BotTool } from "../tool/context.ts";
import { destructiveTool, readTool } from "../tool/define.ts";
import { type Donator, GameServerError } from "./client.ts";
import type { Change } from "./donator-plan.ts";
import type { DonatorSync, SyncPlan } from "./donators.ts";

const startTimeoutMs = 12_000;
const maxListed = 200;

/** Undefined where supporters get no roles. */
type SyncOf = (guildId: string) => Pick<DonatorSync, "plan" | "apply"> | undefined;

const manages = { permissions: [{ permission: "ManageGuild", inGuild: true }] } as const;

export function donatorTools(syncOf: SyncOf): BotTool[] {
	return [listDonators(syncOf), syncDonators(syncOf)];
}

function listDonators(syncOf: SyncOf) {
	return readTool({
		name: "list_donators",
		title: "List supporters",
		description:
			"List the game server's current supporters: tier, game account, Discord member and missing roles; then members with a tier role that they are not listed for.",
		toolset: "game",
		person: manages,
		input: {
			guild_id,
			limit: limit(1000, 100),
			offset: v.optional(integer(0, 10_000_000, "Number of supporters to skip."), 0),
		},
		async run({ limit, offset }, { guild }) {
			const { plan } = await fetchPlan(syncOf, guild);
			const { donators, changes } = plan;
			const page = donators.slice(offset, offset + limit);
			const next = offset + page.length;
			const rolesTo = (kind: Change["kind"]) => rolesByMember(changes.filter((change) => change.kind === kind));
			const missing = rolesTo("give");
			const superfluous = [...rolesTo("take")];
			return [
				page.length < donators.length
					? `${donators.length} supporter(s), ${page.length} of them here:`
					: `${donators.length} supporter(s):`,
				...page.map((donator) => formatDonator(donator, guild, missing, plan)),
				...(superfluous.length > 0
					? [
							`${superfluous.length} member(s) with a role that they are not listed for:`,
							...sample(superfluous, maxListed, ([member, roles]) => `${memberFields(member)} | superfluous: ${roles}`),
						]
					: []),
				...formatNotes(plan),
				...(next < donators.length && page.length > 0 ? [`next_offset=${next}`] : []),
			];
		},
	});
}

function syncDonators(syncOf: SyncOf) {
	return destructiveTool({
		name: "sync_donators",
		title: "Synchronise supporter roles",
		description:
			"Give members the roles of the tiers that the game server lists, and remove them from members no longer listed. Also runs by itself at every check_interval.",
		toolset: "game",
		person: manages,
		input: { guild_id },
		async plan(_, { guild }) {
			const { sync, plan } = await fetchPlan(syncOf, guild);
			return {
				preview: preview(plan),
				async act() {
					const untilMs = performance.now() + startTimeoutMs;
					const { given, taken, failed, left, reasons, removalsHeld } = await sync.apply(plan, untilMs);
					return [
						`Gave ${given} role(s), removed ${taken}.`,
						...(failed > 0 ? [`${failed} change(s) failed; the next run retries them:`, ...reasons] : []),
						...(left > 0 ? [`${left} change(s) are left for the next run.`] : []),
						...formatNotes({ ...plan, removalsHeld }),
					];
				},
			};
		},
	});
}

function preview(plan: SyncPlan): Result {
	const changes = plan.changes.filter(({ kind }) => kind === "give" || plan.removalsHeld === undefined);
	const gives = changes.filter(({ kind }) => kind === "give").length;
	return asking(
		[
			changes.length === 0
				? "Nothing would change."
				: `Would give ${gives} role(s) and remove ${changes.length - gives}:`,
			...sample(changes, maxListed, ({ kind, member, role, reason }) => {
				const [verb, direction] = kind === "give" ? ["give", "to"] : ["remove", "from"];
				return `${verb} ${roleName(role)} ${direction} ${memberFields(member)} | ${oneField(reason)}`;
			}),
			...formatNotes(plan),
		],
		said("preview.sync_donators", { gives, takes: changes.length - gives }),
	);
}

function formatNotes({
	removalsHeld,
	restricted,
	problems,
}: Pick<SyncPlan, "removalsHeld" | "restricted" | "problems">): string[] {
	return [
		...(removalsHeld === undefined ? [] : [`No roles are removed: ${removalsHeld}.`]),
		...(restricted.size > 0 ? [`${restricted.size} restricted member(s) are skipped.`] : []),
		...problems.map((problem) => `Problem: ${problem}.`),
	];
}

function formatDonator(
	{ tier, username, uuid, chatId }: Donator,
	guild: Guild,
	missing: ReadonlyMap<GuildMember, string>,
	{ restricted }: SyncPlan,
): string {
	const account = `${oneField(tier)} | ${oneField(username)} | uuid: ${oneField(uuid)}`;
	if (chatId === undefined) return `${account} | no Discord account`;
	const member = guild.members.cache.get(chatId);
	if (!member) return `${account} | not a member | ID: ${chatId}`;
	const roles = missing.get(member);
	return [
		account,
		memberFields(member),
		...(restricted.has(chatId) ? ["restricted"] : []),
		...(roles === undefined ? [] : [`missing: ${roles}`]),
	].join(" | ");
}

function rolesByMember(changes: readonly Change[]): Map<GuildMember, string> {
	const byMember = Map.groupBy(changes, ({ member }) => member);
	const roles = (list: readonly Change[]) => list.map(({ role }) => roleName(role)).join(", ");
	return new Map([...byMember].map(([member, list]) => [member, roles(list)]));
}

async function fetchPlan(syncOf: SyncOf, guild: Guild) {
	const sync = syncOf(guild.id);
	if (!sync)
		throw new ToolError(
			`Supporters of the game server get no roles in ${guildName(guild)}. Nothing was done; set_settings can set game.tiers and game.donator_sync.`,
		);
	try {
		return { sync, plan: await sync.plan() };
	} catch (error) {
		if (!(error instanceof GameServerError)) throw error;
		throw new ToolError(
			`Could not reach the game server: ${oneLine(error.message)}. Nothing was done; try again later.`,
			{ cause: error },
		);
	}
}
