// Mutated documents: each is refused with a text, or planned; and each plan is carried out by a job that says what it did.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { ToolError } from "../../../src/lib/tool-error.ts";
import { type Random, seeded } from "../../support/random.ts";
import { randomGuild } from "../../support/random-guild.ts";
import { until } from "../../support/until.ts";
import { hashIn, jobIn, startService } from "./running-service.ts";

const { Administrator, ViewAuditLog, ManageChannels, ManageRoles } = PermissionFlagsBits;
const seed = {
	bots: [{ username: "alpha" }],
	users: [{ username: "owner" }, { username: "ada" }],
	guilds: [
		{ name: "The Cooks", permissions: Administrator },
		{ name: "The Bakers", permissions: ViewAuditLog | ManageChannels | ManageRoles },
	].map(({ name, permissions }) => ({
		name,
		owner: "owner",
		bots: [{ username: "alpha", permissions }],
		roles: [{ name: "Role" }, { name: "Role" }, { name: "general" }],
		channels: [{ name: "general" }, { name: "general" }],
		members: [{ username: "ada", roles: ["Role"] }],
	})),
};

/** The simulator gets requests that Discord refuses. */
const anyRequests = { onlyResponses: true } as const;

const garbage: readonly unknown[] = [
	...["", " ", "\0", "@everyone", "+role/Role", "all", "__proto__", "🎉"],
	...["x".repeat(5000), "1", "100000000000000000", "#FF0000", "general"],
	...[0, -1, 1.5, 1e308, Number.NaN, null, undefined, true, false],
	...[[], {}, [null], { name: "Role" }, { role: "Role" }, [[]]],
	...[["@everyone"], ["ADMINISTRATOR"], ["BIT_63"], ["VIEW_CHANNEL"]],
];

/** Changes random values in a document. */
function mutate(random: Random, document: object): unknown {
	const root = structuredClone(document) as Record<string, unknown>;
	for (let count = 1 + random.below(4); count > 0; count -= 1) {
		let place: Record<string, unknown> = root;
		for (let depth = random.below(5); depth > 0; depth -= 1) {
			const inside = Object.values(place).filter((value) => typeof value === "object" && value !== null);
			if (inside.length === 0) break;
			place = random.pick(inside) as Record<string, unknown>;
		}
		const keys = Object.keys(place);
		if (keys.length === 0) continue;
		const key = random.pick(keys);
		if (Array.isArray(place)) {
			const other = random.pick(keys);
			if (random.chance(0.3)) place.push(structuredClone(place[Number(key)]));
			else if (random.chance(0.5)) place.splice(Number(key), 1);
			else [place[Number(key)], place[Number(other)]] = [place[Number(other)], place[Number(key)]];
			continue;
		}
		const way = random.below(3);
		if (way === 0) delete place[key];
		else place[key] = way === 1 ? structuredClone(random.pick(Object.values(place))) : random.pick(garbage);
	}
	return root;
}

test.each([1, 2, 3, 4])(
	"mutated documents, seed %d",
	async (number) => {
		const random = seeded(number);
		await using running = await startService({ hasRealRules: true, simulator: { seed, ...anyRequests } });
		const { service, guild, bot } = running;
		const counts = { invalid: 0, refused: 0, nothing: 0, done: 0, failed: 0 };
		const toError = (error: unknown) => {
			// Any other error is a bug.
			if (!(error instanceof ToolError)) throw error;
			return undefined;
		};
		for (let round = 0; round < 60; round += 1) {
			const document = randomGuild(random, {
				roles: random.below(4),
				channels: random.below(6),
				memberIds: [bot.guild.owner_id],
				community: random.chance(0.2),
			});
			delete document.settings?.name;
			const name = random.pick(["The Cooks", "The Bakers"]);
			const plan = await service()
				.plan(guild(name), { document: mutate(random, document) }, { prune: random.chance(0.5) })
				.catch(toError);
			if (plan === undefined) {
				counts.invalid += 1;
				continue;
			}
			const text = await service().apply(hashIn(plan)).catch(toError);
			const id = jobIn(text ?? "");
			if (text === undefined) counts.refused += 1;
			else if (id === "") counts.nothing += 1;
			else {
				const end = await until("the job ends", async () => {
					const shown = await service().job(id);
					return shown.includes(", ended ") && shown;
				});
				expect(end).not.toContain("internal error");
				const isDone = end.includes(": done, ");
				// What is not done is said.
				if (!isDone) expect(end).toMatch(/^(failed|Note): /m);
				counts[isDone ? "done" : "failed"] += 1;
			}
		}
		const errors = bot.logged.lines.filter((line) => line.includes('"level":"error"'));
		expect(errors).toEqual([]);
		for (const kind of ["invalid", "done"] as const) expect([kind, counts[kind]]).not.toEqual([kind, 0]);
	},
	300_000,
);
