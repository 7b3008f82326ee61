// Rehearsals on a copy of a guild: what would happen there. The guild itself is only read.

import type { GuildMember } from "discord.js";
import * as v from "valibot";
import { role } from "../../discord/find.ts";
import { roleIds as held } from "../../discord/members/member-filter.ts";
import { timeLeftMs } from "../../discord/rest/rest.ts";
import { countOf, oneLine, resultLines } from "../../discord/text.ts";
import { partNames, readDocument } from "../../guild-document/format/document.ts";
import { publishedAs } from "../../mcp/json-schema.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { maxOneByOne, type Rehearsal, scenarioNames } from "../guild-documents/rehearsals/rehearsals.ts";
import { result } from "../results/result.ts";
import { featureOff } from "../settings/keys.ts";
import { withIds } from "../settings/of-guild.ts";
import { choice, flag, found, guild_id, integer, list } from "../tool/arguments/arguments.ts";
import type { ContextFor } from "../tool/context.ts";
import { readTool } from "../tool/define.ts";
import { documentOf, withUserIds } from "./guild-documents.ts";
import { orRefuse } from "./settings.ts";

/** Without it a scenario shows nothing, and with this value it does. */
const needed: { [scenario: string]: readonly ["moderation.raid" | "spam.on", unknown] | undefined } = {
	raid: ["moderation.raid", "10 joins in 60s"],
	spam: ["spam.on", true],
};

const values = publishedAs<Rehearsal["settings"]>({
	type: "object",
	additionalProperties: true,
	description: "Values by key to try, beside the guild's own.",
});

const input = {
	guild_id,
	scenario: choice(
		scenarioNames,
		"What happens. raid: 60 accounts join and write; spam: seven kinds of it; hijack: a moderator deletes and bans; restore: half of all channels and roles is deleted, and restored from the latest backup; document: it is applied; member: one tries what they can do.",
	),
	role_ids: v.optional(list(found(role, "role"), 0, 50, "Of the member.")),
	document: documentOf("For document, as in plan_guild. Default: the latest backup."),
	settings: v.optional(v.pipe(v.record(v.string(), v.unknown()), values)),
	seed: v.optional(integer(0, 2 ** 31, "The same one gives the same answer."), 1),
	all_members: flag("Also those beyond 20,000, which are only counted otherwise."),
	watch: flag("As slow as real time, on a page that opens on the bot's machine only."),
};

export const rehearse = readTool({
	name: "rehearse",
	toolset: "guild_document",
	title: "Rehearse on a copy of the guild",
	description:
		"What would happen: plays a scenario on a simulated copy of the guild, with this bot and its settings. Says what was stopped, after how long, what got through, and which setting changes it. The guild is only read.",
	// Its answer names channels that others do not see.
	person: { permissions: [{ permission: "Administrator", inGuild: true }] },
	input,
	async run(args, context, { reportProgress }) {
		const { guild, guildDocuments, settings } = context;
		await settings.ready();
		const key = JSON.stringify([args, settings.state(guild.id).version]);
		let steps = 0;
		const onStep = (step: string) => reportProgress(++steps, undefined, step);
		const make = () => given(args, context);
		const answer = await guildDocuments.rehearsals.play(guild, key, make, timeLeftMs() - 4_000, onStep);
		if (typeof answer === "string") return `The rehearsal is running: ${answer}. Repeat this call for its answer.`;
		const { lines, better } = answer;
		const set = { ...args.settings, ...better };
		const next = JSON.stringify({ guild_id: guild.id, settings: set, dry_run: true });
		return [
			`Rehearsal of ${args.scenario} on a copy, seed ${args.seed}. Nothing was done in the guild itself.`,
			...lines.map(oneLine),
			...(better ? [{ ...result(`To apply the setting: set_settings ${next}`), advice: { set } }] : []),
		];
	},
});

async function given(
	args: v.InferOutput<v.StrictObjectSchema<typeof input, undefined>>,
	{ guild, settings, guildDocuments, self, discord, connection }: ContextFor<typeof input>,
): Promise<Rehearsal> {
	const { scenario, seed, settings: wanted = {}, role_ids: givenRoles = [], watch: isWatched = false } = args;
	const changes = orRefuse(() => settings.changes(guild.id, withIds(guild, wanted)));
	const tried = Object.fromEntries(changes.map(({ key, after }) => [key, after]));
	const all: Rehearsal["settings"] = { ...settings.state(guild.id).stored, ...tried };
	const { bot_name, timezone, intents, commands, features } = self.toml;
	const [key, value] = needed[scenario] ?? [];
	const feature = key && featureOff(key, features);
	if (feature) throw new SaidError(said("settings.rehearse.off", { feature }));
	if (key && !all[key]) {
		const setting = said(`setting.${key}.label`);
		const models = `${key} is not set, so nothing would happen. Pass settings=${JSON.stringify({ [key]: value })} to try it, or set it with set_settings.`;
		throw new SaidError(said("settings.rehearse.unset", { setting }), { models });
	}
	if (scenario !== "document" && args.document !== undefined)
		throw invalidParameters(["document: expected only with the scenario document"]);
	if (scenario !== "member" && givenRoles.length > 0)
		throw invalidParameters(["role_ids: expected only with the scenario member"]);
	const raw = await withUserIds(args.document, guild, connection);
	// Refuses what cannot be planned, such as too many steps.
	if (scenario === "document")
		await guildDocuments.plan(guild, raw === undefined ? { backup: "latest" } : { document: raw });
	const { id: botId } = discord.user;
	const played = guild.members.cache.filter(({ id, user }) => id === botId || (!user.bot && id !== guild.ownerId));
	const restores = scenario === "restore" || (scenario === "document" && raw === undefined);
	const backup = restores ? await guildDocuments.rehearsals.latestBackup(guild.id) : undefined;
	const change = raw === undefined ? undefined : readDocument(raw);
	const planned = change ?? backup?.document;
	const given = planned?.members ?? [];
	const { cache } = guild.members;
	const lost = given.filter(({ id, roles }) => cache.has(id) && !played.has(id) && roles.length > 0).length;
	// That people have left is no fault of a backup.
	if (planned?.members) planned.members = given.filter(({ id }) => played.has(id) || (change && !cache.has(id)));
	const listed = new Set(given.map(({ id }) => id));
	const strong = guild.roles.cache.filter(({ permissions }) => permissions.any(["BanMembers", "ManageChannels"]));
	const isNeeded = (one: GuildMember) => listed.has(one.id) || one[held].some((id) => strong.has(id));
	const rankOf = (one: GuildMember) => Number(isNeeded(one)) * 1_000 + one[held].length;
	const ranked = [...played.values()].sort((a, b) => rankOf(b) - rankOf(a));
	const size = args.all_members ? ranked.length : Math.max(maxOneByOne, listed.size);
	const rest = ranked.slice(size);
	const others = Map.groupBy(rest, (one) => one[held].join());
	const counted = Array.from(others.values(), (some) => ({ roles: some[0]?.[held] ?? [], count: some.length }));
	const only = rest.length > 0 && `${rest.length} of ${ranked.length} members, only counted: all_members adds them`;
	const parts = partNames.filter((part) => !["messages", "bans", "bot"].includes(part));
	const { document, missing } = await guildDocuments.export(guild, parts);
	const rolesOf = new Map(document.members?.map(({ id, roles }) => [id, roles]));
	const members = ranked.slice(0, size).map(({ id }) => ({ id, roles: rolesOf.get(id) ?? [] }));
	const botRole = guild.roles.botRoleFor(discord.user)?.name;
	const toml = { bot_name, timezone, intents, commands, features, backup: self.toml.backup };
	const copy = { document: { ...document, members }, counted, settings: all, botId, botRole, backup, change };
	const told = { scenario, seed, toml, deny: self.toml.mcp.tools.deny, isWatched };
	const roleIds = givenRoles.filter((id) => id !== guild.id);
	const roles = lost > 0 && `the roles of ${countOf(lost, "member")}: the owner and other bots`;
	return { ...told, ...copy, roleIds, missing: resultLines(missing, only, roles) };
}
