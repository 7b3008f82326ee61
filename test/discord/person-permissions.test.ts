// The permissions of people in whose names calls act, compared with what discord.js computes.

import { expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { ActingPerson, actAs } from "../../src/discord/acting-person.ts";
import { everything, permissionsOf, requireOf } from "../../src/discord/permissions.ts";
import type { Overwrite } from "../../src/simulator/world/state/entities.ts";
import type { SaidError } from "../../src/texts/said-error.ts";
import { type Language, render, said } from "../../src/texts/texts.ts";
import { startConnection } from "../support/connection.ts";
import { seeded } from "../support/random.ts";
import { until } from "../support/until.ts";

const { Administrator, ManageThreads, SendMessages, ViewChannel } = PermissionFlagsBits;
const bits = [ViewChannel, SendMessages, ManageThreads, Administrator];

test("in channels with any overwrites, they are those of discord.js", async () => {
	const random = seeded(20261122);
	const anyOf = (choices: readonly bigint[]) =>
		choices.reduce((all, bit) => (random.chance(0.3) ? all | bit : all), 0n);
	await using alpha = await startConnection(({ world, guild }) => {
		const cooks = guild("The Cooks");
		const roles = Array.from({ length: 6 }, (_, at) =>
			world.roles.add(cooks, { name: `role ${at}`, permissions: String(anyOf(bits)) }),
		);
		const members = [...cooks.members.values()];
		for (const member of members)
			world.members.edit(cooks, member, {
				roles: [
					...member.roles.filter((id) => cooks.roles.get(id)?.managed),
					...roles.flatMap(({ id }) => (random.chance(0.4) ? [id] : [])),
				],
			});
		const targets = [
			{ id: cooks.id, type: 0 as const },
			...roles.map(({ id }) => ({ id, type: 0 as const })),
			...members.map(({ user }) => ({ id: user.id, type: 1 as const })),
		];
		for (let count = 0; count < 60; count++)
			world.channels.add(cooks, {
				name: `channel-${count}`,
				type: ChannelType.GuildText,
				permission_overwrites: targets.flatMap((target): Overwrite[] => {
					if (random.chance(0.6)) return [];
					const [allow, deny] = [anyOf(bits), anyOf(bits)];
					return [{ ...target, allow: String(allow), deny: String(deny & ~allow) }];
				}),
			});
	});
	const { connection, simulator } = alpha;
	const find = () => connection.guilds.find(({ id }) => id === simulator.guild("The Cooks").id);
	await until("the members are loaded", () => {
		const guild = find();
		return guild !== undefined && connection.hasAllMembers(guild);
	});
	const guild = find();
	const seen = { all: 0, none: 0, some: 0 };
	for (const member of guild?.members.cache.values() ?? [])
		actAs(new ActingPerson(member.id), () => {
			for (const channel of guild?.channels.cache.values() ?? []) {
				const { bitfield = 0n } = channel.permissionsFor(member) ?? {};
				const isAll = (bitfield & Administrator) !== 0n;
				const isHidden = (bitfield & ViewChannel) === 0n;
				const found = permissionsOf(member, channel);
				if (member.permissions.has(Administrator)) expect(found).toBe(everything);
				// The bot's are those without the ones that it would lose by not seeing the channel: errors name what it lacks.
				else expect(found).toBe(isHidden && member !== guild?.members.me ? 0n : bitfield);
				seen[isAll ? "all" : isHidden ? "none" : "some"] += 1;
			}
		});
	expect(Object.values(seen).every((count) => count > 20)).toBe(true);
});

test("a refusal names permissions as the settings of its reader do, and to models as Discord's API", async () => {
	await using alpha = await startConnection();
	const zoe = () =>
		alpha.connection.guilds.flatMap(
			({ members }) => members.cache.find(({ user }) => user.username === "zoe") ?? [],
		)[0];
	const member = await until("the members are loaded", zoe);
	const refuse = () => requireOf(member, undefined, ManageThreads, () => [said("refusal.why.locked")]);
	expect(refuse).toThrow(
		/^You lack MANAGE_THREADS in the guild \d+ as a whole\. The thread is locked\. Nothing was done\.$/,
	);
	const shown = (language: Language) => {
		try {
			return refuse();
		} catch (error) {
			return render((error as SaidError).said, language);
		}
	};
	expect(shown("en")).toBe(
		"You lack Manage Threads in this server as a whole.\nThe thread is locked. Nothing was done.",
	);
	expect(shown("de")).toBe(
		"Dir fehlt in diesem Server insgesamt: Threads verwalten.\nDer Thread ist gesperrt. Es ist nichts passiert.",
	);
});
