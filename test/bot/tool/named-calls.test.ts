// The limits of the look-ups of names, before a call.

import { expect, test } from "bun:test";
import { idsFor } from "../../../src/bot/tool/named-calls.ts";
import { timeLeftMs } from "../../../src/discord/rest/rest.ts";

test("the search for a name on Discord has a deadline", async () => {
	let left = Infinity;
	const search = async () => {
		left = timeLeftMs();
		return new Map();
	};
	const members = { search, cache: new Map() };
	const guild = { id: "1", name: "Cooks", available: true, members, roles: { cache: new Map() } };
	const inputSchema = { properties: { user_id: { type: "string", pattern: "^\\d{17,20}$" } } };
	const tool = { name: "get_member", effect: "read", listing: { inputSchema } };
	const set = { resolve: (_: string, args: object) => ({ tool, args }) };
	const guilds = { cache: new Map([["1", guild]]) };
	const connection = { discord: { guilds }, guilds: [guild], hasAllMembers: () => false };
	const selection = { set, context: { connection, guildId: "1" } };
	const params = { name: "get_member", arguments: { user_id: "@ada" } };
	expect(String(await idsFor(params, { signal: undefined }, selection as never).catch(String))).toContain(
		"has no user",
	);
	expect(left).toBeLessThanOrEqual(10_000);
});
