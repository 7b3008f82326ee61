// Rehearsals on a copy of a guild: what would happen there. The guild itself is only read.

import * as v from "valibot";
import { role } from "../../discord/find.ts";
import { roleIds as held } from "../../discord/members/member-filter.ts";
import { timeLeftMs } from "../../discord/rest/rest.ts";
import { oneLine, resultLines } from "../../discord/text.ts";
import { InvalidDocument, partNames, readDocument } from "../../guild-document/format/document.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { publishedAs } from "../../mcp/json-schema.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { attempt, invalidText } from "../guild-documents/plans/plans.ts";
import { type Rehearsal, scenarioNames } from "../guild-documents/rehearsals/rehearsals.ts";
import { result } from "../results/result.ts";
import { featureOff, isKey } from "../settings/keys.ts";
import { referencesIn, withIds } from "../settings/of-guild.ts";
import { choice, flag, found, guild_id, integer, list } from "../tool/arguments/arguments.ts";
import type { ContextFor } from "../tool/context.ts";
import { readTool } from "../tool/define.ts";
import { documentOf, withUserIds } from "./guild-documents.ts";
import { orRefuse } from "./settings.ts";

/** More members are not in the copy. */
const maxMembers = 20_000;

/** Without it a scenario shows nothing, and with this value it does. */
const needed: Partial<Record<string, Rehearsal["settings"]>> = {
	raid: { "moderation.raid": "10 joins in 60s" },
	spam: { "spam.on": true },
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
	watch: v.optional(flag("As slow as real time, on a page that opens on the bot's machine only.")),
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
		const { guild, guildDocuments } = context;
		const { scenario, seed } = args;
		const make = () => given(args, context);
		const waitMs = timeLeftMs() - 4_000;
		let steps = 0;
		const onStep = (step: string) => reportProgress(++steps, undefined, step);
		const answer = await guildDocuments.rehearsals.play(guild.id, JSON.stringify(args), make, waitMs, onStep);
		if (typeof answer === "string") return `The rehearsal is running: ${answer}. Repeat this call for its answer.`;
		const { lines, better } = answer;
		const next = JSON.stringify({ guild_id: guild.id, settings: better, dry_run: true });
		return [
			`Rehearsal of ${scenario} on a copy, seed ${seed}. Nothing was done in the guild itself.`,
			...lines.map(oneLine),
			...(better ? [{ ...result(`To apply the setting: set_settings ${next}`), advice: { set: better } }] : []),
		];
	},
});

async function given(
	{
		scenario,
		seed,
		document: wantedDocument,
		settings: wanted = {},
		role_ids: givenRoles = [],
		watch: isWatched = false,
	}: v.InferOutput<v.StrictObjectSchema<typeof input, undefined>>,
	{ guild, settings, guildDocuments, self, discord, connection }: ContextFor<typeof input>,
): Promise<Rehearsal> {
	await settings.ready();
	const changes = orRefuse(() => settings.changes(guild.id, withIds(guild, wanted)));
	const tried = Object.fromEntries(changes.map(({ key, after }) => [key, after]));
	const all: Rehearsal["settings"] = { ...settings.state(guild.id).stored, ...tried };
	const need = needed[scenario] ?? {};
	const { bot_name, timezone, intents, commands, features } = self.toml;
	const featureOf = (key: string) => (isKey(key) ? featureOff(key, features) : undefined);
	const feature = Object.keys(need).map(featureOf).find(Boolean);
	if (feature) throw new SaidError(said("settings.rehearse.off", { feature }));
	const off = Object.keys(need).find((key) => !all[key]);
	if (off) {
		const setting = said(`setting.${off}.label` as "setting.spam.on.label");
		const models = `${off} is not set, so nothing would happen. Pass settings=${JSON.stringify(need)} to try it, or set it with set_settings.`;
		throw new SaidError(said("settings.rehearse.unset", { setting }), { models });
	}
	if (scenario !== "document" && wantedDocument !== undefined)
		throw invalidParameters(["document: expected only with the scenario document"]);
	if (scenario !== "member" && givenRoles.length > 0)
		throw invalidParameters(["role_ids: expected only with the scenario member"]);
	const change = await withUserIds(wantedDocument, guild, connection);
	const read = change !== undefined && (await attempt(() => readDocument(change)));
	if (read instanceof InvalidDocument) throw new ToolError(invalidText(read.issues));
	const { id: botId } = discord.user;
	const played = guild.members.cache
		.filter(({ id, user }) => id === botId || (!user.bot && id !== guild.ownerId))
		.sort((a, b) => b[held].length - a[held].length);
	const more = played.size - maxMembers;
	const tooMany =
		more > 0 && `members: ${more} of ${played.size}, those with the fewest roles: it has at most ${maxMembers}`;
	const ids = new Set([...played.keys()].slice(0, maxMembers));
	const restores = scenario === "restore" || (scenario === "document" && change === undefined);
	const backup = restores ? await guildDocuments.rehearsals.latestBackup(guild.id, ids) : undefined;
	const parts = partNames.filter((part) => !["messages", "bans", "bot"].includes(part));
	const { document, missing } = await guildDocuments.export(guild, parts);
	const rolesOf = new Map(document.members?.map(({ id, roles }) => [id, roles]));
	const members = Array.from(ids, (id) => ({ id, roles: rolesOf.get(id) ?? [] }));
	const known = JSON.stringify(document);
	const gone = new Set(referencesIn(all).flatMap(({ key, id }) => (known.includes(`"${id}"`) ? [] : key)));
	const isKept = ([key]: [string, unknown]) => !gone.has(key) && featureOf(key) === undefined;
	const kept = Object.fromEntries(Object.entries(all).filter(isKept));
	if (backup?.document.bot)
		backup.document.bot = Object.fromEntries(Object.entries(backup.document.bot).filter(isKept));
	const unset = [...gone].map((key) => `the setting ${key}: what it names is gone, or hidden from the bot`);
	const botRole = guild.roles.botRoleFor(discord.user)?.name;
	const toml = { bot_name, timezone, intents, commands, features, backup: self.toml.backup };
	const copy = { document: { ...document, members }, settings: kept, tried, botId, botRole, backup, change };
	const told = { scenario, seed, toml, deny: self.toml.mcp.tools.deny, isWatched };
	const roleIds = givenRoles.filter((id) => id !== guild.id);
	return { ...told, ...copy, roleIds, missing: resultLines(missing, unset, tooMany) };
}
