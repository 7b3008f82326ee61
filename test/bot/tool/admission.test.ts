// Calls in a person's name: which guilds they reach, and that they do nothing that the person could not do by hand.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ChannelType, type Guild, GuildMemberFlags, PermissionFlagsBits } from "discord.js";
import { findGuild, guildsOf, ownGuildId } from "../../../src/bot/tool/admission.ts";
import type { Principal } from "../../../src/lib/principal.ts";
import { moderatorPermissions } from "../../../src/simulator/seed.ts";
import type { Role } from "../../../src/simulator/world/state/entities.ts";
import { SaidError } from "../../../src/texts/said-error.ts";
import { render } from "../../../src/texts/texts.ts";
import { tomlOf } from "../../support/bot-config.ts";
import { openConnection, startConnection } from "../../support/connection.ts";
import { settingsOf } from "../../support/guild-settings.ts";
import type { McpCaller } from "../../support/mcp.ts";
import { until } from "../../support/until.ts";
import { channelNamed, memberNamed, roleNamed, startWorld, type TestWorld, userNamed } from "../../support/world.ts";

const unknownId = "999999999999999999";
const anchor = Date.parse("2026-11-22T12:00:00Z");
const farFuture = new Date(anchor + 1000 * 365 * 86_400_000).toISOString();

let world: TestWorld;
beforeAll(async () => {
	world = await startWorld({}, { mcpToken: "a-token" });
});
afterAll(() => world[Symbol.asyncDispose]());

function principalOf(
	name: string,
	changes: Partial<Principal> & { signedIn?: boolean } = {},
	of: TestWorld = world,
): Principal {
	const { signedIn = false, ...rest } = changes;
	const { id } = userNamed(of, name);
	const person = { id, name, signedIn };
	return { id: `key:${name}`, name, access: "all", person, ...rest };
}

/** A client that acts in the name of a member. */
function as(name: string, changes?: Partial<Principal> & { signedIn?: boolean }): McpCaller {
	return world.mcp.as(principalOf(name, changes));
}

const general = () => ({ channel_id: channelNamed(world, "general").id });
const hello = () => ({ ...general(), content: "hello" });

/** Gives a member other roles while `work` runs. */
async function withRoles(name: string, roles: readonly Role[], work: () => Promise<void>): Promise<void> {
	const { members } = world.simulator.world;
	const member = memberNamed(world, name);
	const before = member.roles;
	members.edit(world.guild, member, { roles: roles.map(({ id }) => id) });
	await world.heard();
	try {
		await work();
	} finally {
		members.edit(world.guild, member, { roles: before });
		await world.heard();
	}
}

/** Adds a role with these permissions while `work` runs. */
async function withRole(permissions: bigint, work: (role: Role) => Promise<void>): Promise<void> {
	const { roles } = world.simulator.world;
	const role = roles.add(world.guild, { name: "temporary", permissions: String(permissions) });
	try {
		await work(role);
	} finally {
		roles.remove(world.guild, role);
		await world.heard();
	}
}

describe("a guild", () => {
	test("that is not given is refused like a missing GUILD_ID if the person is not a member", async () => {
		const { text, code } = await as("bob_the_baker").call("list_channels");
		expect({ text, code }).toEqual({
			text: "Invalid parameters: guild_id: is required, because this bot is in no guild that you may use",
			code: -32602,
		});
	});

	test("that the person is not in is refused without waiting for calls that lock", async () => {
		const args = { ...general(), topic: "Held up" };
		const patch = `PATCH /channels/${args.channel_id}`;
		const fault = world.simulator.faults.stall(patch, { times: 1 });
		const editing = world.call("edit_channel", args);
		await until("the edit is on its way", () => fault.hits === 1);
		const { text } = await as("bob_the_baker").call("edit_channel", { ...args, guild_id: world.guild.id });
		expect(text).toContain("The bot is not in a guild");
		fault.release();
		expect((await editing).isError).toBe(false);
	});

	test("does not exist for guests, who see only one voice channel of it", async () => {
		const { members } = world.simulator.world;
		const member = memberNamed(world, "liwei");
		members.edit(world.guild, member, { flags: GuildMemberFlags.IsGuest });
		await world.heard();
		const guild_id = world.guild.id;
		for (const [tool, args] of [
			["send_message", hello()],
			["list_channels", {}],
		] as const) {
			const { text } = await as("liwei").call(tool, { ...args, guild_id });
			expect(text).toContain(`The bot is not in a guild ${guild_id}`);
		}
		const rights = await as("liwei").request("guildhall/rights", {});
		expect(rights).toEqual({ guilds: [] });
		members.edit(world.guild, member, { flags: 0 });
		await world.heard();
		expect((await as("liwei").call("list_channels")).isError).toBe(false);
	});

	test("is lost with the membership, at once", async () => {
		const { members } = world.simulator.world;
		const member = memberNamed(world, "liwei");
		expect((await as("liwei").call("send_message", hello())).isError).toBe(false);
		members.remove(world.guild, member);
		try {
			const { text } = await as("liwei").call("send_message", { ...hello(), guild_id: world.guild.id });
			expect(text).toContain("The bot is not in a guild");
		} finally {
			members.add(world.guild, member.user, member);
			await world.heard();
		}
	});
});

describe("a permission", () => {
	let count = 0;
	const change = () => ({ ...general(), topic: `Topic ${++count}` });

	test("that the person loses with a role is lacking in the next call", async () => {
		await withRole(PermissionFlagsBits.ManageChannels, async (role) => {
			const { members } = world.simulator.world;
			const member = memberNamed(world, "liwei");
			members.edit(world.guild, member, { roles: [role.id] });
			await world.heard();
			const edit = () => as("liwei").call("edit_channel", change());
			expect((await edit()).isError).toBe(false);
			members.edit(world.guild, member, { roles: [] });
			expect((await edit()).text).toContain("You lack MANAGE_CHANNELS");
		});
	});

	test("of the person does not replace one of the bot", async () => {
		const { roles } = world.simulator.world;
		const own = roleNamed(world, "alpha");
		const before = own.permissions;
		const without = BigInt(before) & ~PermissionFlagsBits.ManageChannels;
		roles.edit(world.guild, own, { permissions: String(without) });
		await world.heard();
		try {
			const { text } = await as("ada").call("edit_channel", change());
			expect(text).toContain("The bot lacks MANAGE_CHANNELS in #general");
		} finally {
			roles.edit(world.guild, own, { permissions: before });
			await world.heard();
		}
	});
});

describe("role hierarchy", () => {
	const kick = (by: string, name: string) =>
		as(by).call("kick", { user_ids: [userNamed(world, name).id], dry_run: true });

	test("protects members and roles above the person", async () => {
		await withRole(PermissionFlagsBits.KickMembers, (role) =>
			withRoles("liwei", [role], async () => {
				const above = await kick("liwei", "jose.garcia");
				expect(above.text).toMatch(
					/^Chef José .* does not rank below you: @Staff .* is not below @temporary .*\. You can only act on roles and members that rank below you\. Nothing was done\.$/,
				);
				expect((await kick("liwei", "liwei")).text).toContain("is you: you cannot act on yourself");
				expect((await kick("liwei", "ada")).text).toContain("owns the guild");
				expect((await kick("liwei", "zoe")).isError).toBe(true);
				const roleless = memberNamed(world, "zoe");
				expect(roleless.roles).toHaveLength(1);
			}),
		);
		expect((await kick("jose.garcia", "zoe")).isError).toBe(false);
		expect((await kick("ada", "jose.garcia")).isError).toBe(false);
	});
});

describe("a person who may only read", () => {
	test.each([
		["because of a timeout", { communication_disabled_until: farFuture }, "You are timed out in the guild"],
		[
			"until the membership screening",
			{ pending: true },
			"You have not completed the membership screening of the guild",
		],
		[
			"in AutoMod's quarantine",
			{ flags: GuildMemberFlags.AutomodQuarantinedUsernameOrGuildNickname },
			"You are quarantined by AutoMod in the guild",
		],
	])("%s changes nothing", async (_, changes, expected) => {
		const { members } = world.simulator.world;
		const change = async (name: string, given: object) => {
			members.edit(world.guild, memberNamed(world, name), given);
			await world.heard();
		};
		const undo = { communication_disabled_until: null, pending: false, flags: 0 };
		await change("liwei", changes);
		await change("ada", changes);
		try {
			const { text } = await as("liwei").call("send_message", hello());
			expect(text).toContain(expected);
			const read = await as("liwei").call("get_recent_messages", general());
			expect(read.isError).toBe(false);
			// Discord exempts the owner and administrators.
			const owner = await as("ada").call("send_message", hello());
			expect(owner.isError).toBe(false);
		} finally {
			await change("liwei", undo);
			await change("ada", undo);
		}
	});
});

describe("a channel that the person does not see", () => {
	test("does not exist if it is a private thread of others", async () => {
		const { threads } = world.simulator.world;
		const owner = userNamed(world, "ada");
		const thread = threads.add(channelNamed(world, "general"), owner, {
			name: "secret plans",
			type: ChannelType.PrivateThread,
		});
		await world.heard();
		const read = (name: string) => as(name).call("get_recent_messages", { channel_id: thread.id });
		expect((await read("liwei")).text).toContain(`There is no channel ${thread.id}`);
		expect((await read("ada")).isError).toBe(false);
		threads.join(thread, userNamed(world, "liwei"));
		await world.heard();
		expect((await read("liwei")).isError).toBe(false);
		await withRole(PermissionFlagsBits.ManageThreads, (role) =>
			withRoles("zoe", [role], async () => {
				expect((await read("zoe")).isError).toBe(false);
			}),
		);
	});
});

test("in a locked thread, people without MANAGE_THREADS only delete and react", async () => {
	const { threads, messages } = world.simulator.world;
	const thread = threads.add(channelNamed(world, "general"), userNamed(world, "ada"), { name: "closed" });
	const message = messages.add(thread, userNamed(world, "ada"), { content: "The end." });
	threads.edit(thread, { locked: true });
	await world.heard();
	const at = { channel_id: thread.id };
	const react = (emoji: string) => as("liwei").call("add_reaction", { ...at, message_id: message.id, emoji });
	const { text } = await as("liwei").call("send_message", { ...at, content: "One more thing." });
	expect(text).toMatch(/^You lack MANAGE_THREADS in #closed .* The thread is locked\. Nothing was done\.$/);
	expect((await react("👍")).isError).toBe(false);
	threads.edit(thread, { archived: true });
	await world.heard();
	expect((await react("🎉")).text).toContain("You lack MANAGE_THREADS");
	threads.remove(thread);
	await world.heard();
});

test("a tool about the bot itself is out of the scope of a key for other guilds", async () => {
	const key = (guilds: string[]) => world.mcp.as({ id: "key:k", name: "k", access: "all", guilds });
	const inScope = await key([world.guild.id]).call("get_bot_info");
	expect(inScope.isError).toBe(false);
	const { isError } = await key([unknownId]).call("get_bot_info");
	expect(isError).toBe(true);
});

describe("a person who signed in", () => {
	const read = (name: string) => as(name, { signedIn: true }).call("list_channels");

	test("needs the permission of the configuration", async () => {
		expect((await read("liwei")).text).toBe(
			`Signing in gives access to the guild ${world.guild.id} only with MANAGE_GUILD, which you lack. Nothing was done.`,
		);
		const { text } = await as("liwei", { signedIn: true }).call("list_guilds");
		expect(text).toBe("0 guild(s):");
		expect((await read("ada")).isError).toBe(false);
		await withRole(PermissionFlagsBits.ManageGuild, (role) =>
			withRoles("liwei", [role], async () => {
				expect((await read("liwei")).isError).toBe(false);
			}),
		);
	});
});

describe("who made a call", () => {
	const create = async (caller: McpCaller, reason?: string) => {
		await caller.expectResult("create_role", { name: "made by a caller", ...(reason !== undefined && { reason }) });
		return world.guild.auditLog.at(-1)?.reason;
	};
	const hanna = (changes: Partial<Principal>): Principal => ({
		...principalOf("ada"),
		person: { id: userNamed(world, "ada").id, name: "Hanna", signedIn: false },
		...changes,
	});

	test("is in Discord's audit log, at any length of the reason", async () => {
		const forHanna = world.mcp.as(hanna({ client: "Claude" }));
		expect(await create(forHanna)).toBe("via MCP (for Hanna, by Claude)");
		expect(await create(forHanna, "It was late.")).toBe("It was late. (for Hanna, by Claude)");
		const long = await create(forHanna, "è".repeat(512));
		expect(long).toBe(`${"è".repeat(488)}… (for Hanna, by Claude)`);
		expect(long).toHaveLength(512);
		const lines = world.mcp.as(hanna({ client: "a\nb".repeat(60) }));
		expect(await create(lines)).toMatch(/^via MCP \(for Hanna, by a\\nb[abn\\]{170,}…\)$/);
		const key = { id: "key:ci", name: "ci", access: "all" } as const;
		expect(await create(world.mcp.as(key))).toBe("via MCP (by ci)");
		expect(await create(world.mcp)).toBe("via MCP");
		const narrowed = { ...key, id: "root", name: "root" };
		expect(await create(world.mcp.as(narrowed))).toBe("via MCP");
	});

	test("is in the log, and in the bot's audit log", async () => {
		const { id } = userNamed(world, "ada");
		world.logged.length = 0;
		await world.mcp.as(hanna({ client: "Claude" })).call("list_roles");
		expect(world.logged.join("\n")).toMatch(
			new RegExp(`client="Claude" key="key:ada" person="${id}" tool="list_roles"`),
		);
		const { text } = await world.call("list_recent_tool_calls", { tool: "list_roles" });
		expect(text).toContain(
			`client: Claude | request: ${/request: (\S+)/.exec(text)?.[1]} | for: @ada (${id}) | key: key:ada | {}`,
		);
	});
});

describe("guildhall/rights", () => {
	const rightsOf = (name: string, changes?: Partial<Principal>) => as(name, changes).request("guildhall/rights", {});

	test("lists the guilds of the person, and where the person may sign in", async () => {
		const { id, name } = world.guild;
		const ofMember = { guilds: [{ id, name, signIn: false }] };
		expect(await rightsOf("liwei")).toEqual(ofMember);
		const ofOwner = { guilds: [{ id, name, signIn: true }] };
		expect(await rightsOf("ada")).toEqual(ofOwner);
		expect(await rightsOf("bob_the_baker")).toEqual({ guilds: [] });
		const elsewhere = await rightsOf("ada", { guilds: [unknownId] });
		expect(elsewhere).toEqual({ guilds: [] });
	});

	test("does not exist for callers without a person", async () => {
		for (const caller of [world.mcp, world.mcp.as({ id: "key:k", name: "k", access: "all" })])
			await expect(caller.request("guildhall/rights", {})).rejects.toThrow("Method not found: guildhall/rights");
	});
});

describe("a bot in several guilds", () => {
	let other: TestWorld;
	const inOther = (name: string) => other.mcp.as(principalOf(name, {}, other));
	beforeAll(async () => {
		other = await startWorld({}, { mcpToken: "a-token" });
		const { simulator } = other;
		const bakers = simulator.guild("The Bakers");
		const { members, roles } = simulator.world;
		const bot = members.add(bakers, userNamed(other, "alpha"), { botPermissions: moderatorPermissions });
		// Above all roles.
		const own = [...bakers.roles.values()].filter(({ id }) => bot.roles.includes(id));
		roles.move(bakers, new Map(own.map((role) => [role, bakers.roles.size])));
		await until("the bot has both guilds", async () => {
			const { text } = await other.call("list_guilds");
			return other.bot.loaded && text.startsWith("2 guild(s)");
		});
	});
	afterAll(() => other[Symbol.asyncDispose]());

	test("shows each person the guilds that the person is in", async () => {
		const countFor = async (name: string) => (await inOther(name).call("list_guilds")).text.split(" ")[0];
		expect(await countFor("liwei")).toBe("2");
		expect(await countFor("mona_lisa")).toBe("1");
		const { guilds } = (await inOther("bob_the_baker").request("guildhall/rights", {})) as {
			guilds: { name: string }[];
		};
		expect(guilds.map(({ name }) => name)).toEqual(["The Bakers"]);
	});

	test("names its own guild in prompts only to members", async () => {
		const prompt = async (name: string) =>
			JSON.stringify(await inOther(name).request("prompts/get", { name: "review_permissions" }));
		expect(await prompt("liwei")).toContain(other.guild.id);
		const toStranger = await prompt("bob_the_baker");
		expect(toStranger).toContain(other.simulator.guild("The Bakers").id);
		expect(toStranger).not.toContain(other.guild.id);
	});

	test("names its own guild only to members who know of several", async () => {
		const read = async (name: string) => (await inOther(name).call("list_channels")).text;
		const note = "In the guild The Cooks";
		expect(await read("liwei")).toContain(note);
		expect(await read("mona_lisa")).not.toContain(note);
		const toStranger = await read("bob_the_baker");
		expect(toStranger).toContain("guild_id: is required");
		expect(toStranger).not.toContain("Cooks");
	});

	test("lets people act only where they have the rights", async () => {
		const zoe = inOther("zoe");
		const kick = (guild_id: string) =>
			zoe.call("kick", { guild_id, user_ids: [userNamed(other, "liwei").id], dry_run: true });
		const bakers = other.simulator.guild("The Bakers");
		expect((await kick(bakers.id)).isError).toBe(false);
		expect((await kick(other.guild.id)).text).toContain("You lack KICK_MEMBERS");
	});

	test("refuses people while it does not hear of changes", async () => {
		const { sockets } = other.simulator;
		sockets.holdConnections(true);
		sockets.disconnect();
		await until("the bot has noticed", async () => {
			const { text } = await inOther("liwei").call("list_channels");
			return text.startsWith("The bot is not connected to Discord's Gateway");
		});
		await expect(inOther("liwei").request("guildhall/rights", {})).rejects.toThrow(
			"The bot is not connected to Discord",
		);
		const { isError } = await other.call("list_channels");
		expect(isError).toBe(false);
		sockets.holdConnections(false);
		await until("the bot is connected again", async () => {
			const { isError } = await inOther("liwei").call("list_channels");
			return !isError;
		});
	});
});

test("a person's only guild is not known while another may have that person", () => {
	const guild = (id: string, people: string[], state: object = {}) => ({
		id,
		available: true,
		complete: true,
		members: { cache: new Set(people) },
		...state,
	});
	const principal = { person: { id: "1", name: "zoe", signedIn: false } };
	const own = (...guilds: ReturnType<typeof guild>[]) =>
		ownGuildId({
			connection: { guilds, hasAllMembers: ({ complete }: { complete: boolean }) => complete },
			principal,
		} as never);
	const cooks = guild("cooks", ["1", "2"]);
	expect(own(cooks, guild("bakers", ["2"]))).toBe("cooks");
	expect(own(cooks, guild("bakers", ["1"]))).toBeUndefined();
	expect(own(cooks, guild("bakers", [], { complete: false }))).toBeUndefined();
	expect(own(cooks, guild("bakers", [], { available: false }))).toBeUndefined();
	expect(own(guild("cooks", ["1"], { complete: false }), guild("bakers", []))).toBe("cooks");
});

test("while the member cache is incomplete, Discord is asked who is a member", async () => {
	await using alpha = await startConnection();
	const { connection, simulator } = alpha;
	// Discord sends the ids of guilds first, and each guild after them.
	await until("it has its guild", () => connection.guilds[0]?.available === true);
	const { mcp } = tomlOf();
	const settings = await settingsOf();
	const incomplete = { guilds: connection.guilds, hasAllMembers: () => false };
	const guildsOfUser = async (id: string) => {
		simulator.requests.clear();
		const found = await guildsOf({ connection: incomplete, self: { toml: { mcp } }, settings } as never, id);
		const asked = simulator.requests.list().map(({ path }) => path);
		return { names: found.map(({ guild }) => guild.name), asked: asked.length };
	};
	const liwei = simulator.user("liwei").id;
	const member = { names: ["The Cooks"], asked: 1 };
	expect(await guildsOfUser(liwei)).toEqual(member);
	expect(await guildsOfUser(liwei)).toEqual(member);
	const bob = simulator.user("bob_the_baker").id;
	expect(await guildsOfUser(bob)).toEqual({ names: [], asked: 1 });
	expect(await guildsOfUser(unknownId)).toEqual({ names: [], asked: 1 });
});

describe("people read in their language", () => {
	const inGerman = async (work: () => unknown) => {
		const error = await Promise.resolve()
			.then(work)
			.then(
				() => undefined,
				(cause) => cause,
			);
		expect(error).toBeInstanceOf(SaidError);
		return render(error.said, "de");
	};
	const guild = { id: "1", available: false } as unknown as Guild;
	const bot = { connection: { discord: { guilds: { cache: new Map([["1", guild]]) } } } } as never;

	test("that the guild is unavailable", async () => {
		expect(await inGerman(() => findGuild(bot, { guild_id: "1" }, "read"))).toStartWith(
			"Dieser Server ist auf Discord",
		);
	});

	test("that the bot is not connected", async () => {
		const { connection, [Symbol.asyncDispose]: close } = openConnection("http://127.0.0.1:1/api");
		expect(await inGerman(() => connection.discord)).toStartWith("Der Bot ist noch nicht mit Discord verbunden.");
		await close();
	});
});
