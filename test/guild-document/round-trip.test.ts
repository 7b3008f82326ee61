// A guild made from a document has an export that is equal to it, but for ids.

import { describe, expect, test } from "bun:test";
import { difference } from "../../src/guild-document/difference.ts";
import {
	type GuildDocument,
	parseDocument,
	toYaml,
} from "../../src/guild-document/document.ts";
import { exportDocument } from "../../src/guild-document/export.ts";
import type { GuildState } from "../../src/guild-document/steps.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import type { Guild } from "../../src/simulator/world/state/entities.ts";
import { seeded } from "../support/random.ts";
import { randomGuild } from "../support/random-guild.ts";
import { startSimulator } from "../support/simulator.ts";

/** Calls the simulated Discord as the owner of the guild. */
async function request(
	simulator: Simulator,
	method: string,
	path: string,
	body?: unknown,
): Promise<unknown> {
	const response = await fetch(`${simulator.api}/v10${path}`, {
		method,
		headers: {
			authorization: "owner-token",
			"content-type": "application/json",
		},
		...(body !== undefined && { body: JSON.stringify(body) }),
	});
	const text = await response.text();
	if (!response.ok)
		throw new Error(
			`${method} ${path}: ${response.status} ${text} ${JSON.stringify(body)}`,
		);
	return text === "" ? undefined : JSON.parse(text);
}

async function stateOf(
	simulator: Simulator,
	{ id }: Guild,
): Promise<GuildState> {
	const get = (path: string) =>
		request(simulator, "GET", `/guilds/${id}${path}`);
	const guild = (await get("")) as GuildState["guild"];
	return {
		guild,
		channels: (await get("/channels")) as GuildState["channels"],
		automod: (await get("/auto-moderation/rules")) as GuildState["automod"],
		events: (await get("/scheduled-events")) as GuildState["events"],
		webhooks: (await get("/webhooks")) as GuildState["webhooks"],
		pictures: new Map(),
	};
}

/** Carries out all steps, and what differs after that, up to `rounds` times. Returns how many rounds changed something. */
async function build(
	simulator: Simulator,
	guild: Guild,
	document: GuildDocument,
): Promise<number> {
	const ids = new Map<string, string>();
	for (let round = 0; round < 5; round++) {
		const { steps, refusals } = difference(
			document,
			await stateOf(simulator, guild),
			{ prune: true, ids },
		);
		expect(refusals).toEqual([]);
		if (steps.length === 0) return round;
		for (const step of steps) {
			const { method, path, body } = step.request(ids);
			const made = (await request(simulator, method, path, body)) as {
				id: string;
			};
			if (step.placeholder) ids.set(step.placeholder, made.id);
		}
	}
	const left = difference(document, await stateOf(simulator, guild), {
		prune: true,
		ids,
	});
	throw new Error(
		`still different: ${left.steps.map(({ id, changes }) => `${id} ${JSON.stringify(changes)}`).join("; ")}`,
	);
}

/** A document without ids. */
function withoutIds(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withoutIds);
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(
		Object.entries(value)
			.filter(([field]) => field !== "id")
			.map(([field, one]) => [field, withoutIds(one)]),
	);
}

describe.each([1, 2, 3, 4, 5, 6, 7, 8])("random guild %d", (seed) => {
	test("is made, exported and made again", async () => {
		const random = seeded(seed);
		await using simulator = await startSimulator({
			seed: {
				bots: [],
				users: [{ username: "owner", token: "owner-token" }],
				guilds: [
					{ name: "First", owner: "owner" },
					{ name: "Second", owner: "owner" },
				],
			},
		});
		const document = randomGuild(random, {
			roles: 10 + random.below(20),
			channels: 20 + random.below(40),
			memberIds: [simulator.guild("First").owner_id],
			community: random.chance(0.5),
		});
		const first = simulator.guild("First");
		const second = simulator.guild("Second");
		expect(await build(simulator, first, document)).toBeLessThanOrEqual(3);
		const exported = exportDocument(await stateOf(simulator, first));
		expect(exportDocument(await stateOf(simulator, first))).toEqual(exported);
		expect(parseDocument(toYaml(exported))).toEqual(exported);
		expect(parseDocument(JSON.stringify(exported))).toEqual(exported);
		await build(simulator, second, exported);
		const again = exportDocument(await stateOf(simulator, second));
		expect(withoutIds(again)).toEqual(withoutIds(exported));
		expect(JSON.stringify(withoutIds(again))).toBe(
			JSON.stringify(withoutIds(exported)),
		);
	});
});
