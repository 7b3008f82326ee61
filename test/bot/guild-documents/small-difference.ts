// A small difference between a document and a guild, for tests of plans and jobs: names and colors of roles, and names,
// topics and overwrites of text channels. Things are matched by name.

import { ChannelType } from "discord.js";
import type { GuildDocument } from "../../../src/guild-document/format/document.ts";
import { bitOf } from "../../../src/guild-document/names/permission-names.ts";
import type { DifferenceOptions } from "../../../src/guild-document/steps/step-list.ts";
import type { Difference, FieldChange, GuildState, Step } from "../../../src/guild-document/steps.ts";

type Ids = ReadonlyMap<string, string>;

export function smallDifference(
	document: GuildDocument,
	state: GuildState,
	{ prune, ids = new Map() }: DifferenceOptions,
): Difference {
	return {
		steps: [...roleSteps(document, state, prune, ids), ...channelSteps(document, state, prune, ids)],
		refusals: [],
	};
}

function roleSteps({ roles }: GuildDocument, { guild }: GuildState, prune: boolean, ids: Ids): Step[] {
	if (!roles) return [];
	const found = (name: string) =>
		guild.roles.find(({ id }) => id === ids.get(`+role/${name}`)) ?? guild.roles.find((role) => role.name === name);
	const steps = roles.flatMap(({ name, color = "" }): Step[] => {
		const role = found(name);
		const number = color === "" ? 0 : Number.parseInt(color.slice(1), 16);
		const body = { name, color: number };
		if (!role)
			return [
				{
					...step("create", "role", name, [{ field: "color", after: color }]),
					placeholder: `+role/${name}`,
					request: () => ({ method: "POST", path: `/guilds/${guild.id}/roles`, body }),
				},
			];
		if (role.color === number && role.name === name) return [];
		return [
			{
				...step("edit", "role", name, [{ field: "color", before: String(role.color), after: color }]),
				targetId: role.id,
				request: () => ({ method: "PATCH", path: `/guilds/${guild.id}/roles/${role.id}`, body }),
			},
		];
	});
	if (!prune) return steps;
	const kept = new Set(roles.map(({ name }) => name));
	for (const { id, name, managed } of guild.roles)
		if (id !== guild.id && !managed && !kept.has(name))
			steps.push({
				...step("delete", "role", name, []),
				targetId: id,
				request: () => ({ method: "DELETE", path: `/guilds/${guild.id}/roles/${id}` }),
			});
	return steps;
}

function channelSteps(
	{ channels }: GuildDocument,
	{ guild, channels: existing }: GuildState,
	prune: boolean,
	ids: Ids,
): Step[] {
	if (!channels) return [];
	const roleId = (name: string, all: Ids) =>
		all.get(`+role/${name}`) ?? guild.roles.find((role) => role.name === name)?.id ?? "";
	const steps = channels.flatMap(({ name, topic = "", overwrites = [] }): Step[] => {
		const channel =
			existing.find(({ id }) => id === ids.get(`+channel/${name}`)) ?? existing.find((one) => one.name === name);
		const body = (all: Ids) => ({
			name,
			type: ChannelType.GuildText,
			topic,
			permission_overwrites: overwrites.map(({ role = "", allow = [] }) => ({
				id: roleId(role, all),
				type: 0,
				allow: String(allow.reduce((bits, one) => bits | (bitOf(one) ?? 0n), 0n)),
				deny: "0",
			})),
		});
		const needs = overwrites.flatMap(({ role = "" }) => (roleId(role, ids) === "" ? [`+role/${role}`] : []));
		if (!channel)
			return [
				{
					...step("create", "channel", name, [{ field: "topic", after: topic }]),
					placeholder: `+channel/${name}`,
					needs,
					request: (all) => ({ method: "POST", path: `/guilds/${guild.id}/channels`, body: body(all) }),
				},
			];
		const { topic: before } = channel as { topic?: string | null };
		if ((before ?? "") === topic) return [];
		return [
			{
				...step("edit", "channel", name, [{ field: "topic", before: before ?? "", after: topic }]),
				targetId: channel.id,
				request: () => ({ method: "PATCH", path: `/channels/${channel.id}`, body: { topic } }),
			},
		];
	});
	if (!prune) return steps;
	const kept = new Set(channels.map(({ name }) => name));
	for (const { id, name } of existing)
		if (!kept.has(name ?? ""))
			steps.push({
				...step("delete", "channel", name ?? "", []),
				targetId: id,
				request: () => ({ method: "DELETE", path: `/channels/${id}` }),
			});
	return steps;
}

function step(
	action: Step["action"],
	kind: Step["kind"],
	name: string,
	changes: readonly FieldChange[],
): Omit<Step, "request"> {
	return { id: `${action} ${kind} ${name}`, action, kind, name, changes, needs: [], guard: {} };
}
