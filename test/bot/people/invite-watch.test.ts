// By which invite people join.

import { expect, test } from "bun:test";
import { InviteWatch, invitesOfJoins } from "../../../src/bot/people/invite-watch.ts";
import { joinRows } from "../../../src/bot/store/tables/joins.ts";
import { migrations } from "../../../src/bot/store/tables.ts";
import type { Invite } from "../../../src/simulator/world/state/entities.ts";
import { startConnection } from "../../support/connection.ts";
import { onBoth, openStore } from "../../support/stores.ts";
import { until } from "../../support/until.ts";
import { channelNamed, memberNamed, userNamed, worldTest } from "../../support/world.ts";

const uses = (of: Record<string, number>) => new Map(Object.entries(of));

test.each([
	["one join, one use", { a: 1, b: 5 }, { a: 2, b: 5 }, 1, true, "a"],
	["many by the same", { a: 1 }, { a: 4 }, 3, true, "a"],
	["two by two", { a: 1, b: 5 }, { a: 2, b: 6 }, 2, true, "a,b"],
	["an invite made since", { a: 1 }, { a: 1, new: 1 }, 1, true, "new"],
	["no use: the vanity link, or a bot that adds people", { a: 1 }, { a: 1 }, 1, true, "?"],
	["fewer uses than joins", { a: 1 }, { a: 2 }, 2, true, "a,?"],
	["more uses than joins", { a: 1, b: 1 }, { a: 2, b: 2 }, 1, true, "a,b,?"],
	["an invite that is gone", { a: 1, once: 0 }, { a: 1 }, 1, true, "once,?"],
	["one is gone, but all uses are known", { a: 1, once: 0 }, { a: 2 }, 1, true, "a"],
	["others join at the same time", { a: 1 }, { a: 2 }, 1, false, "a,?"],
])("%s", (_, before, after, joins, isQuiet, expected) => {
	expect(invitesOfJoins(uses(before), uses(after as Record<string, number>), { joins, isQuiet }).join()).toBe(expected);
});

worldTest("one reading serves the joins of a second, and where asks for it", async (world) => {
	const { simulator, guild } = world;
	const { world: platform } = simulator;
	const invite = (code: string, created_at: string) =>
		platform.invites.add(channelNamed(world, "general"), {
			...{ code, created_at, max_age: 0 },
			inviter: userNamed(world, "ada"),
		});
	const [a, b] = ["aaaa", "bbbb"].map((code) => invite(code, "2020-01-01T00:00:00.000Z")) as [Invite, Invite];
	const late = invite("late", "2999-01-01T00:00:00.000Z");
	const joinBy = (used: Invite, ...names: string[]) => {
		for (const username of names) {
			platform.members.add(guild, platform.users.add({ username }));
			platform.invites.use(used);
		}
	};
	const read = () => simulator.requests.list().filter(({ path }) => path.endsWith(`/${guild.id}/invites`)).length;
	await until("the bot has read the invites", () => read() > 0);
	await world.heard();
	let asked = 0;
	const members = async (where: string) => {
		asked += 1;
		return (await world.call("list_members", { where })).text;
	};
	joinBy(a, "first", "second");
	await until("both are known", async () => (await members("invite:aaaa")).includes("2 of 8 members match"));
	expect(read() - asked).toBe(2);
	const text = await members("invite:https://discord.gg/aaaa");
	expect(text).toMatch(/first \| ID: \d+ \| invite aaaa\n@second \| ID: \d+ \| invite aaaa\n6 more members may match:/);
	expect(text).toContain("Invites are known of joins while this bot ran with MANAGE_GUILD");
	expect(await members("invite:bbbb and name:first")).toStartWith("0 of 8");
	const older = await members("not invite:late");
	expect(older).toStartWith("8 of 8 members match");
	expect(older).toContain(", all of them joined before the invite:\n");
	expect(older).not.toContain("may match");
	platform.invites.remove(late);
	expect(await members("invite:late")).toContain("6 more members may match:");
	for (const more of [{ details: true }, { sort: "joined_desc" }]) {
		const whole = await world.call("list_members", { where: "invite:aaaa and name:first", ...more });
		expect(whole.text).toMatch(/first \| .*joined: \d{4}-\d\d-\d\dT\S+ \| invite aaaa\n/);
	}
	joinBy(a, "third");
	joinBy(b, "fourth");
	await until("both may be either", async () => (await members("invite:bbbb")).includes("invite one of"));
	expect(await members("invite:bbbb")).toMatch(/third \| ID: \d+ \| invite one of aaaa or bbbb/);
	const ban = await world.call("ban", { where: "invite:bbbb" });
	expect(ban).toMatchObject({ isError: true });
	expect(ban.text).toStartWith("Nobody matches for certain. Nothing was done.");
});

onBoth(({ place }) => {
	test("the invite of a member who leaves is forgotten", async () => {
		await using alpha = await startConnection();
		await alpha.opened;
		await until("the members are known", () => alpha.connection.hasLoadedMembers);
		await using opened = await openStore(await place(), { migrations });
		const { store } = opened;
		const guild = alpha.simulator.guild("The Cooks");
		const zoe = memberNamed(alpha.simulator, "zoe");
		const row = (user_id: string) => ({ guild_id: guild.id, user_id, joined_at: 1, invites: "aaaa" });
		await joinRows.save(store.sql, [row(zoe.user.id), row("1")]);
		const watch = new InviteWatch({ connection: alpha.connection, store, log: alpha.recorded.log });
		watch.attach(alpha.connection.discord);
		alpha.simulator.world.members.remove(guild, zoe);
		await until("the row is gone", async () => (await joinRows.all(store.sql, { guild_id: guild.id })).length === 1);
		await watch.close();
	});
});
