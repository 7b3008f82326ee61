// The members that the bot knows are there during and after a reconnect to Discord's Gateway.

import { expect, test } from "bun:test";
import { startConnection } from "../../support/connection.ts";
import { present, until } from "../../support/until.ts";
import { startWorld, type TestWorld } from "../../support/world.ts";

const loading = "still being loaded";

function loads({ logged }: TestWorld): number {
	return logged.filter((line) => line.includes("loaded all members")).length;
}

function countOf({ logged }: TestWorld, session: "new" | "resumed"): number {
	return logged.filter((line) => line.includes("reconnected to Discord's Gateway") && line.includes(session)).length;
}

test.concurrent("after a resumed session the members are complete without being loaded again", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const before = loads(world);
	simulator.sockets.holdMembers(true);
	simulator.sockets.disconnect({ resumable: true });
	await until("it has resumed", () => countOf(world, "resumed") === 1);
	const { text } = await world.call("list_members", { guild_id: guild.id });
	expect(text).toStartWith(`${guild.members.size} of ${guild.members.size}`);
	expect(text).not.toContain(loading);
	expect(loads(world)).toBe(before);
});

test.concurrent("while a new session loads the members again, those known before are found", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const ada = simulator.user("ada");
	const role = simulator.world.roles.add(guild, { name: "Guest" });
	await world.heard();
	const before = loads(world);
	simulator.sockets.holdMembers(true);
	simulator.sockets.disconnect({ resumable: false });
	await until("it has a new session", () => countOf(world, "new") === 1);

	const look = await world.call("lookup_user_by_name", { query: "ada" });
	expect(look.text).toContain(`ID: ${ada.id}`);
	const list = await world.call("list_members", { guild_id: guild.id });
	expect(list.text).toStartWith(`${guild.members.size} of ${guild.members.size}`);
	expect(list.text).toContain(loading);
	const one = await world.call("get_member", { user_ids: ada.id });
	expect(one.isError).toBe(false);
	// Changes of many members wait: roles may have changed unnoticed.
	const many = await world.call("bulk_role_update", {
		guild_id: guild.id,
		role_id: role.id,
		action: "add",
		user_ids: [ada.id, simulator.user("liwei").id],
		dry_run: false,
	});
	expect(many).toMatchObject({ isError: true });
	expect(many.text).toContain(loading);
	expect(loads(world)).toBe(before);

	const left = present(guild.members.get(simulator.user("liwei").id));
	// The event about it is lost to discord.js's cache, like one during the outage.
	simulator.sockets.alterEvents((type, data) =>
		type === "GUILD_MEMBER_REMOVE" ? { guild_id: "0", user: left.user } : data,
	);
	simulator.world.members.remove(guild, left);
	await world.heard();
	simulator.sockets.alterEvents(undefined);
	simulator.sockets.holdMembers(false);
	await until("they are loaded again", () => loads(world) > before);
	const after = await world.call("list_members", { guild_id: guild.id });
	expect(after.text).not.toContain(loading);
	expect(after.text).not.toContain(left.user.id);
	expect(await world.call("lookup_user_by_name", { query: "liwei" })).toEqual({
		text: `No member's name contains "liwei".`,
		isError: false,
	});
});

/** A bot whose members are loaded, and the cached and the simulated member "ada" of its guild. */
async function startLoaded() {
	const alpha = await startConnection();
	const { connection, simulator } = alpha;
	const guild = simulator.guild("The Cooks");
	const known = () => connection.guilds.find(({ id }) => id === guild.id);
	const isLoaded = () => {
		const cached = known();
		return cached !== undefined && connection.hasAllMembers(cached);
	};
	await until("all members are known", isLoaded);
	const ada = present(guild.members.get(simulator.user("ada").id));
	const cached = () => known()?.members.cache.get(ada.user.id);
	return { alpha, simulator, guild, ada, cached, isLoaded };
}

test.concurrent("a nickname and a timeout that ended during an outage are forgotten, also if Discord leaves out the fields", async () => {
	const { alpha, simulator, ada, cached, isLoaded } = await startLoaded();
	await using _ = alpha;
	const member = present(cached());
	member.nickname = "Old";
	member.communicationDisabledUntilTimestamp = Number.MAX_SAFE_INTEGER;
	simulator.sockets.alterEvents((type, data) => {
		if (type !== "GUILD_MEMBERS_CHUNK") return data;
		const chunk = data as { members: object[] };
		const members = chunk.members.map((one) => ({ ...one, nick: undefined, communication_disabled_until: undefined }));
		return { ...chunk, members };
	});
	expect(ada.nick ?? null).toBeNull();
	simulator.sockets.disconnect({ resumable: false });
	await until("it has a new session", () => alpha.returns().length === 1);
	await until("all members are loaded again", isLoaded);
	expect(cached()?.nickname).toBeNull();
	expect(cached()?.communicationDisabledUntilTimestamp).toBeNull();
});

test.concurrent("someone who joins again while the members are loaded stays", async () => {
	const { alpha, simulator, guild, ada, cached, isLoaded } = await startLoaded();
	await using _ = alpha;
	simulator.sockets.holdMembers(true);
	simulator.sockets.disconnect({ resumable: false });
	await until("it has a new session", () => alpha.returns().length === 1);
	// The chunk is older than the event.
	const joined = "2030-01-01T00:00:00.000000+00:00";
	simulator.sockets.alterEvents((type, data) => {
		if (type === "GUILD_MEMBER_UPDATE") return { ...Object(data), joined_at: joined };
		if (type !== "GUILD_MEMBERS_CHUNK") return data;
		const chunk = data as { members: { user: { id: string } }[] };
		const members = chunk.members.filter(({ user }) => user.id !== ada.user.id);
		return { ...chunk, members };
	});
	simulator.world.members.edit(guild, ada, { nick: "Back" });
	await until("it has heard", () => cached()?.nickname === "Back");
	simulator.sockets.holdMembers(false);
	await until("all members are loaded again", isLoaded);
	expect(cached()?.joinedTimestamp).toBe(Date.parse(joined));
});
