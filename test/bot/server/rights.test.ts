// What the bot says about a person while Discord has an outage. The rest is tested in tool/admission.test.ts, with a bot.

import { expect, test } from "bun:test";
import { createRights } from "../../../src/bot/server/rights.ts";
import type { Admitting } from "../../../src/bot/tool/admission.ts";
import type { Caller } from "../../../src/mcp/server.ts";
import { settingsOf } from "../../support/guild-settings.ts";

const settings = await settingsOf();
const person = "100000000000000001";
const principal = { id: "key:k", name: "k", access: "all" as const, person: { id: person, name: "", signedIn: false } };

/** A guild; during an outage only the members that were known before are known. */
const memberWithAllRights = { permissions: { has: () => true }, flags: { has: () => false } };

const guild = (id: string, available: boolean, isKnown: boolean) => ({
	id,
	name: `Guild ${id}`,
	available,
	members: { cache: new Map(isKnown ? [[person, memberWithAllRights]] : []) },
});

async function rightsWith(...guilds: ReturnType<typeof guild>[]) {
	const context = {
		guilds: new Set(["1", "2"]),
		principal,
		self: { toml: { mcp: { sign_in_permission: "MANAGE_GUILD" } } },
		settings,
		connection: { state: { connected: true }, guilds, hasAllMembers: () => true },
	};
	const rights = createRights(() => context as unknown as Admitting);
	return JSON.parse(String(await rights({}, { principal } as Caller)));
}

const one = { id: "1", name: "Guild 1", signIn: true };

test.each<[string, guilds: ReturnType<typeof guild>[], guilds: object[], boolean]>([
	["all guilds are there", [guild("1", true, true)], [one], false],
	["the person is known", [guild("1", false, true)], [one], false],
	["the person is not known", [guild("1", false, false)], [], true],
	["the person is not known in one of two", [guild("1", true, true), guild("2", false, false)], [one], true],
	["tools are off there", [guild("3", false, false)], [], false],
])("when %s, the answer says whether guilds may be missing", async (_, given, guilds, incomplete) => {
	expect(await rightsWith(...given)).toEqual(incomplete ? { guilds, incomplete } : { guilds });
});

/** What the bot answers whose first shard has the guilds of `connected`. */
async function rightsOf(guilds: readonly { id: string }[], connected: readonly { id: string }[], loaded = guilds) {
	const context = {
		guilds: undefined,
		principal,
		self: { toml: { mcp: { sign_in_permission: "MANAGE_GUILD" } } },
		settings,
		connection: {
			state: { connected: connected.length === guilds.length },
			guilds,
			isConnected: (guild: { id: string }) => connected.includes(guild),
			hasAllMembers: (guild: { id: string }) => loaded.includes(guild),
		},
	};
	const rights = createRights(() => context as unknown as Admitting);
	return JSON.parse(String(await rights({}, { principal } as Caller)));
}

test("while a shard is not connected, its guilds may be missing", async () => {
	const here = guild("1", true, true);
	const lost = guild("2", true, true);
	expect(await rightsOf([here, lost], [here])).toEqual({ guilds: [one], incomplete: true });
	await expect(rightsOf([here, lost], [])).rejects.toThrow("The bot is not connected to Discord");
});

test("of the guilds whose members are still being loaded, the bot asks Discord in 50", async () => {
	let asked = 0;
	const guilds = Array.from({ length: 60 }, (_, number) => ({
		id: String(number),
		name: `Guild ${number}`,
		available: true,
		members: {
			cache: new Map(),
			fetch: async () => {
				asked += 1;
				return memberWithAllRights;
			},
		},
	}));
	const rights = await rightsOf(guilds, guilds, []);
	expect(asked).toBe(50);
	expect(rights.guilds).toHaveLength(50);
	expect(rights.incomplete).toBe(true);
});
