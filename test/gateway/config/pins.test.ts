// GUILDS_<NAME> against bots that list what they like.

import { expect, test } from "bun:test";
import { checkGateway } from "../../../src/gateway/check.ts";
import { readConfig } from "../../../src/gateway/config/config.ts";
import { gatewayToken, startTestGateway } from "../../support/gateway.ts";
import { recordLog } from "../../support/log.ts";
import { startStubBackend } from "../../support/stub-backend.ts";

const cooks = "100000000000000001";
const bakers = "200000000000000002";
const absent = "300000000000000003";
const unpinned = "400000000000000004";

/** "liar" comes first in INSTANCES, and lists the guilds of the honest bot as well. */
function startBots() {
	const liar = startStubBackend({ guilds: { [cooks]: "Cooks", [bakers]: "Bakers", [unpinned]: "Cats" } });
	const honest = startStubBackend({ guilds: { [cooks]: "Cooks" } });
	return { liar, honest };
}
const env = { GUILDS_HONEST: `${cooks},${absent}`, GUILDS_LIAR: bakers };

test("a call by guild_id goes only where the guild is pinned, whichever bot lists it", async () => {
	const { liar, honest } = startBots();
	await using _liar = liar;
	await using _honest = honest;
	await using gateway = await startTestGateway({ liar, honest }, { env });
	const where = async (args: object) => {
		const { headers } = await gateway.post(
			JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: args } }),
		);
		return headers.get("x-mcp-instance");
	};
	expect(await where({ guild_id: cooks })).toBe("honest");
	// Nobody has to be asked who serves it.
	expect(await where({ guild_id: absent })).toBe("honest");
	expect(await where({ guild_id: bakers })).toBe("liar");
	expect(await where({ guild_id: unpinned })).toBe("liar");
	const refused = await gateway.text("echo", { guild_id: cooks, instance: "liar" });
	expect(refused).toStartWith("ERROR Gateway error: GuildPinned: ");
	expect(liar.received("echo")).toHaveLength(2);

	// Also while its own bot is away.
	await honest.stop();
	await gateway.refresh();
	expect(await gateway.text("echo", { guild_id: cooks })).toStartWith("ERROR Gateway error: BackendOffline: honest ");
	expect(liar.received("echo")).toHaveLength(2);
});

test("a guild listed by a bot that it is not pinned to is ignored, logged once, and shown", async () => {
	const { liar, honest } = startBots();
	await using _liar = liar;
	await using _honest = honest;
	await using gateway = await startTestGateway({ liar, honest }, { env });
	await gateway.refresh();
	expect(gateway.recorded.entries("ignored a guild of a bot: GUILDS_<NAME> pins it to another bot")).toMatchObject([
		{ level: "warn", instance: "liar", guild: cooks },
	]);
	expect(gateway.recorded.messages().join()).not.toContain("guild is served by two bots: only one gets calls");
	const lines = (await gateway.text("list_instances")).split("\n");
	expect(lines).toEqual([
		"2 instance(s):",
		expect.stringContaining(
			`liar | online | 2 guild(s): Bakers (${bakers}, pinned), Cats (${unpinned}) | ignored, pinned elsewhere: ${cooks} | since `,
		),
		expect.stringContaining(
			`honest | online | 1 guild(s): Cooks (${cooks}, pinned) | pinned, not listed: ${absent} | since `,
		),
	]);
	const response = await fetch(`${gateway.url}/status`, { headers: { Authorization: `Bearer ${gatewayToken}` } });
	expect(await response.json()).toMatchObject({
		backends: [
			{ pinned_guilds: [bakers], ignored_guilds: [cooks] },
			{ pinned_guilds: [cooks, absent], ignored_guilds: [] },
		],
	});
	// It may leave the guild: then there is nothing to ignore.
	liar.guilds = { [bakers]: "Bakers" };
	await gateway.refresh();
	expect(await gateway.text("list_instances")).not.toContain("ignored");
});

test("--check shows pins, and where they and the listed guilds differ", async () => {
	const { liar, honest } = startBots();
	await using _liar = liar;
	await using _honest = honest;
	const check = async (more: Record<string, string>) => {
		const lines: string[] = [];
		await checkGateway(
			readConfig({
				INSTANCES: `liar=${liar.url},honest=${honest.url}`,
				MCP_AUTH_TOKEN: gatewayToken,
				GATEWAY_PORT: "0",
				...more,
			}),
			recordLog().log,
			{ write: (line) => lines.push(line) },
		);
		return lines;
	};
	const bot = (name: string, { url }: { url: string }) => `${name} (${url}): version 1, 1 tool(s), `;
	const apart = await check(env);
	expect(apart).toContain(
		`! ${bot("liar", liar)}2 guild(s): Bakers, Cats; GUILDS_LIAR pins 1; ignored, pinned elsewhere: ${cooks}`,
	);
	expect(apart).toContain(
		`! ${bot("honest", honest)}1 guild(s): Cooks; GUILDS_HONEST pins 2; pinned, not listed: ${absent}`,
	);
	expect(await check({ GUILDS_HONEST: cooks })).toContain(
		`✓ ${bot("honest", honest)}1 guild(s): Cooks; GUILDS_HONEST pins 1`,
	);
});
