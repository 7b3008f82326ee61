// What a model can see of the supporters' roles, and have done about them.

import type { Guild, GuildMember } from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import { roleName } from "../discord/describe.ts";
import { oneField, oneLine } from "../discord/text.ts";
import { integer, limit } from "../tool/arguments.ts";
import { sample } from "../tool/bulk.ts";
import type { ToolContext } from "../tool/context.ts";
import { destructiveTool, tool } from "../tool/define.ts";
import type { BotTool } from "../tool/toolsets.ts";
import { type Donator, GameServerError } from "./client.ts";
import type { Change } from "./donator-plan.ts";
import type { DonatorLook, DonatorSync } from "./donators.ts";

/** How long changes are begun: the last one has 10 s, and the whole tool 25 s. */
const actMs = 12_000;
/** How many changes are told one by one. */
const maxTold = 200;

type Sync = Pick<DonatorSync, "look" | "carryOut">;

/** Their names, also where the feature is off: an operator may deny them all the same. */
export const donatorToolNames = ["list_donators", "sync_donators"] as const;

export function donatorTools(sync: Sync): BotTool[] {
	return [listDonators(sync), syncDonators(sync)];
}

function listDonators(sync: Sync) {
	return tool({
		name: "list_donators",
		title: "List supporters",
		description:
			"List the game server's supporters as it lists them now: tier, game account, person on Discord, and which roles they lack; then the members with a role of a tier that they are not listed for.",
		effect: "read",
		toolset: "game",
		input: v.strictObject({
			limit: limit(1000, 100),
			offset: v.optional(
				integer(0, 10_000_000, "How many supporters to leave out; 0 at first."),
				0,
			),
		}),
		async run({ limit, offset }, context) {
			const found = await lookFor(sync, context);
			const { donators, guild, changes } = found;
			const shown = donators.slice(offset, offset + limit);
			const next = offset + shown.length;
			const changed = (kind: Change["kind"]) =>
				rolesByMember(changes.filter((one) => one.kind === kind));
			const missing = changed("give");
			const superfluous = [...changed("take")];
			return [
				shown.length < donators.length
					? `${donators.length} supporter(s), ${shown.length} of them here:`
					: `${donators.length} supporter(s):`,
				...shown.map((one) => describe(one, guild, missing, found)),
				...(superfluous.length > 0
					? [
							`${superfluous.length} member(s) with a role that they are not listed for:`,
							...sample(
								superfluous,
								maxTold,
								([member, roles]) =>
									`${shownMember(member)} | superfluous: ${roles}`,
							),
						]
					: []),
				...circumstances(found),
				...(next < donators.length && shown.length > 0
					? [`next_offset=${next}`]
					: []),
			];
		},
	});
}

function syncDonators(sync: Sync) {
	return destructiveTool({
		name: "sync_donators",
		title: "Synchronise the supporters' roles",
		description:
			"Give members the roles of their tiers as the game server lists them, and take them from those who are not listed any more. It happens by itself at every check_interval, too.",
		toolset: "game",
		idempotent: true,
		dryRunByDefault: true,
		input: v.strictObject({}),
		async plan(_, context) {
			const found = await lookFor(sync, context);
			return {
				preview: preview(found),
				async act() {
					const done = await sync.carryOut(found, performance.now() + actMs);
					const { given, taken, failed, left, reasons, held } = done;
					return [
						`Gave ${given} role(s), took ${taken}.`,
						...(failed > 0
							? [
									`${failed} change(s) failed, and are tried again by the next run:`,
									...reasons,
								]
							: []),
						...(left > 0
							? [`${left} change(s) are left to the next run.`]
							: []),
						...circumstances({ ...found, held }),
					];
				},
			};
		},
	});
}

/** What a run would do, a line for each change. */
function preview(found: DonatorLook): string[] {
	const changes = found.changes.filter(
		({ kind }) => kind === "give" || found.held === undefined,
	);
	const gives = changes.filter(({ kind }) => kind === "give").length;
	return [
		changes.length === 0
			? "Nothing would change."
			: `Would give ${gives} role(s) and take ${changes.length - gives}:`,
		...sample(changes, maxTold, ({ kind, member, role, reason }) => {
			const direction = kind === "give" ? "to" : "from";
			return `${kind} ${roleName(role)} ${direction} ${shownMember(member)} | ${oneField(reason)}`;
		}),
		...circumstances(found),
	];
}

/** What holds a run back, and what the operator has to see to. */
function circumstances({
	held,
	restricted,
	faults,
}: Pick<DonatorLook, "held" | "restricted" | "faults">): string[] {
	return [
		...(held === undefined ? [] : [`Nobody loses a role: ${held}.`]),
		...(restricted.size > 0
			? [`${restricted.size} member(s) are left alone: they are restricted.`]
			: []),
		...faults.map((fault) => `To be seen to: ${fault}.`),
	];
}

function describe(
	{ tier, username, uuid, chatId }: Donator,
	guild: Guild,
	missing: ReadonlyMap<GuildMember, string>,
	{ restricted }: DonatorLook,
): string {
	const account = `${oneField(tier)} | ${oneField(username)} | uuid: ${oneField(uuid)}`;
	if (chatId === undefined) return `${account} | no Discord account`;
	const member = guild.members.cache.get(chatId);
	if (!member) return `${account} | no member | ID: ${chatId}`;
	const roles = missing.get(member);
	return [
		account,
		shownMember(member),
		...(restricted.has(chatId) ? ["restricted"] : []),
		...(roles === undefined ? [] : [`missing: ${roles}`]),
	].join(" | ");
}

function shownMember({ displayName, user, id }: GuildMember): string {
	return `${oneField(displayName)} (@${oneField(user.username)}) | ID: ${id}`;
}

function rolesByMember(changes: readonly Change[]): Map<GuildMember, string> {
	const roles = new Map<GuildMember, string>();
	for (const { member, role } of changes) {
		const before = roles.get(member);
		const name = roleName(role);
		roles.set(member, before === undefined ? name : `${before}, ${name}`);
	}
	return roles;
}

/** The list as it is now, its failures said to a model. */
async function lookFor(
	{ look }: Sync,
	{ mayTouch }: Pick<ToolContext, "mayTouch">,
): Promise<DonatorLook> {
	try {
		const found = await look();
		if (mayTouch(found.guild.id)) return found;
	} catch (error) {
		if (!(error instanceof GameServerError)) throw error;
		throw new ToolError(
			`Could not reach the game server: ${oneLine(error.message)}. Nothing was done; try again later.`,
			{ cause: error },
		);
	}
	throw new ToolError(
		"The operator of this bot does not let its tools touch the guild of the supporters. list_guilds shows those that they may.",
	);
}
