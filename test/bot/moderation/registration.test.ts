// What the bot registers with Discord, and that without the feature `moderation` there is nothing of it.

import { expect, test } from "bun:test";
import { settingTools } from "../../../src/bot/tools/settings.ts";
import { until } from "../../support/until.ts";
import { startWorld, type TestWorld } from "../../support/world.ts";
import { freshName } from "../tool-rows/scene.ts";
import { moderationSections, offered, registered } from "./action-world.ts";

/** People join, write, leave, are banned and timed out by hand, and somebody writes commands that do nothing. */
async function happen({ simulator, guild, ...world }: TestWorld) {
	const platform = simulator.world;
	const owner = simulator.user("ada");
	const by = { actor: owner.id };
	const people = ["a", "b", "c"].map(() => {
		const account = platform.users.addPerson({ username: freshName() });
		return platform.members.add(guild, account.user);
	});
	const [first, second, third] = people;
	if (!first || !second || !third) throw new Error("there are three people");
	for (const { user } of people) await simulator.user(user.username).say("The Cooks/general", "hello");
	for (const line of ["!m help", "!m ban nobody", "!m banlist"]) await owner.say("The Cooks/general", line);
	platform.bans.add(guild, second.user, 0, by);
	platform.members.edit(guild, third, { communication_disabled_until: "2099-01-01T00:00:00.000Z" }, by);
	platform.members.remove(guild, first);
	await world.heard();
}

const isChange = ({ method, path }: { method: string; path: string }) =>
	method !== "GET" && !path.includes("/members/@me") && !path.endsWith("/commands");

test("without the feature nothing is registered, offered, answered or written", async () => {
	await using world = await startWorld({}, { toml: { mcp: { toolsets: "all" }, features: { moderation: false } } });
	await happen({ ...world });
	const commands = registered(world.simulator).map(({ name }) => name);
	expect(commands).toEqual(["help", "settings", "setup", "tag", "tag-edit", "privacy", "mydata"]);
	const alpha = world.simulator.bot("alpha").id;
	const written = world.simulator.requests.list().filter(({ actor }) => actor === alpha);
	expect(written.filter(isChange)).toEqual([]);
	const names = (await world.mcp.listTools()).map(({ name }) => name);
	const own = offered.tools.map(({ name }) => name);
	const others = new Set([...offered.builtIn, ...settingTools].map(({ name }) => name));
	const added = own.filter((name) => !others.has(name));
	expect(added.length).toBeGreaterThan(0);
	expect(names.filter((name) => added.includes(name))).toEqual([]);
});

test("with the feature nobody is written to, and nothing is changed, to whom nothing was done", async () => {
	await using world = await startWorld({}, { sections: moderationSections });
	const { simulator } = world;
	await until("commands are registered", () => registered(simulator).length > 0);
	simulator.requests.clear();
	await happen({ ...world });
	const alpha = simulator.bot("alpha").id;
	const { id: staff } = simulator.channel("The Cooks/staff");
	const { id: general } = simulator.channel("The Cooks/general");
	const changed = simulator.requests
		.list()
		.filter((one) => one.actor === alpha && isChange(one))
		.map(({ method, path }) => `${method} ${path}`);
	// The moderation log, and the answers to the owner's commands.
	const expected = new Set([staff, general]);
	const rest = changed.filter((one) => !expected.has(/^POST \/channels\/(\d+)\/messages$/.exec(one)?.[1] ?? ""));
	expect(rest).toEqual([]);
});
