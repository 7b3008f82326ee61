// Plans and their jobs with the bot's own rules: what is refused beforehand, and jobs that come to an end.

import { expect, test } from "bun:test";
import { readGuildState } from "../../../src/bot/guild-documents/read/read-guild.ts";
import { until } from "../../support/until.ts";
import { hashIn, jobIn, startService } from "./running-service.ts";

type Running = Awaited<ReturnType<typeof startService>>;

/** Applies a plan. Returns the text of its job at the end. */
async function applied({ service }: Running, plan: string): Promise<string> {
	const id = jobIn(await service().apply(hashIn(plan)));
	return until("the job ends", async () => {
		const text = await service().job(id);
		return text.includes("ended 2") && text;
	});
}

test("a deletion that Discord does not find and still lists is sent three times", async () => {
	await using running = await startService({ hasRealRules: true });
	const { faults } = running.bot.simulator;
	const refused = faults.refuse("DELETE /channels/:channel_id", 10003, { status: 404 });
	const plan = await running.plan({ channels: [], categories: [{ name: "Talk" }] }, { prune: true });
	expect(plan).toContain("no changes");
	const pruned = await running.plan(
		{ categories: [{ name: "Talk", channels: [{ name: "staff" }, { name: "Lounge", kind: "voice" }] }] },
		{ prune: true },
	);
	expect(pruned).toContain("delete 1");
	expect(await applied(running, pruned)).toContain("failed: delete channel #general: it was done 3 times");
	expect(refused.hits).toBe(3);
});

test("what a document refers to and does not list is not pruned", async () => {
	await using running = await startService({ hasRealRules: true });
	const document = { settings: { system_channel: "general" }, channels: [{ name: "other" }], categories: [] };
	expect(await running.plan(document)).toContain("create 1, change 1\n");
	await expect(running.plan(document, { prune: true })).rejects.toThrow(
		'channel "general": the document refers to it and does not list it, so prune would delete it',
	);
});

test.each(["role", "channel"] as const)("the place of a %s that Discord refuses is not asked for", async (kind) => {
	await using running = await startService({ hasRealRules: true });
	const { bot } = running;
	bot.simulator.faults.refuse(`POST /guilds/:guild_id/${kind}s`, 50013, { status: 403 });
	const [first, second] = [{ name: "new" }, { name: "Guests" }];
	const plan = await running.plan(
		kind === "role"
			? { roles: [first, second] }
			: { categories: [{ name: "Talk", channels: [first, { name: "general" }] }] },
	);
	expect(await applied(running, plan)).toContain("0 of ");
	const route = `PATCH /guilds/:guild_id/${kind}s` as const;
	expect(bot.simulator.journal.entries(route)).toHaveLength(0);
});

test("a plan stays the same when pictures that do not differ have loaded", async () => {
	let isLoaded = false;
	await using running = await startService({
		rules: {
			async read(guild, parts) {
				const read = await readGuildState(guild, parts, running.bot);
				const why = "1 of 2 pictures are not loaded yet";
				return isLoaded ? read : { ...read, unreadable: [{ part: "emojis" as const, why }] };
			},
		},
	});
	const plan = await running.plan({ roles: [{ name: "Mods" }] });
	expect(plan).toContain("cannot: emojis: 1 of 2 pictures");
	isLoaded = true;
	expect(await applied(running, plan)).toContain(": done, 1 of 1");
});

test("a new webhook with a blank name is refused", async () => {
	await using running = await startService({ hasRealRules: true });
	const webhooks = [{ name: "  ", channel: "general" }];
	expect(await running.plan({ webhooks })).toContain("cannot: webhook: its name is blank");
});
