// Guild documents, backups, plans and jobs as resources of the bot.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { PermissionFlagsBits } from "discord.js";
import type { Principal } from "../../../src/lib/principal.ts";
import type { McpCaller } from "../../support/mcp.ts";
import { until } from "../../support/until.ts";
import { addToBakers, giveRole, memberNamed, startWorld, type TestWorld, worldTest } from "../../support/world.ts";

interface Contents {
	contents: { uri: string; mimeType: string; text: string }[];
}

const token = { mcpToken: "a-token" };
const backup = '{"version":1,"name":"Zoë"}';

/** The guild has a backup, and a plan that was carried out. Returns the URIs by kind, and the texts of the tools. */
async function withPast(world: TestWorld) {
	const { guild, dataDirectory } = world;
	using file = new Database(join(dataDirectory, "store.sqlite"));
	file.run(
		"INSERT INTO guild_backups (guild_id, number, made_at, guild_name, length, sha256, channels, roles, omitted, document) VALUES (?, 7, 0, 'The Cooks', ?, '', 1, 1, '', ?)",
		[guild.id, Buffer.byteLength(backup), backup],
	);
	const plan = await world.expectResult("plan_guild", { guild_id: guild.id, document: { roles: [{ name: "New" }] } });
	const plan_hash = /plan_hash=(\w+)/.exec(plan)?.[1] ?? "";
	const applied = await world.expectResult("apply_guild", { guild_id: guild.id, plan_hash });
	const job_id = /\bjob (\w{12})\b/i.exec(applied)?.[1] ?? "";
	const job = () => world.expectResult("get_job", { guild_id: guild.id, job_id });
	await until("the job has ended", async () => !(await job()).includes("running"));
	const uri = (path: string) => `guildhall:/guilds/${guild.id}/${path}`;
	return {
		uris: {
			document: uri("document"),
			backup: uri("backups/7"),
			plan: uri(`plans/${plan_hash}`),
			job: uri(`jobs/${job_id}`),
		},
		job,
	};
}

const read = async (mcp: McpCaller, uri: string) =>
	((await mcp.request("resources/read", { uri })) as Contents).contents;
const listed = async (mcp: McpCaller) =>
	(await mcp.request("resources/list", {})) as { resources: { uri: string; size?: number }[] };

worldTest("what a guild has is listed with its size, and read as its tool shows it", async (world) => {
	const { mcp } = world;
	const { uris, job } = await withPast(world);
	const { resources } = await listed(mcp);
	const jobSize = Buffer.byteLength(await job());
	expect(resources.map(({ uri, size }) => [uri, size])).toEqual([
		[uris.document, undefined],
		[uris.backup, Buffer.byteLength(backup)],
		[uris.plan, undefined],
		[uris.job, jobSize],
	]);
	expect(resources[1]).toEqual({
		uri: uris.backup,
		name: "backups 7",
		title: "The Cooks: Backup 7",
		mimeType: "application/json",
		size: Buffer.byteLength(backup),
		annotations: { lastModified: "1970-01-01T00:00:00.000Z" },
	} as never);
	const [document] = await read(mcp, uris.document);
	expect(JSON.parse(document?.text ?? "").roles.map(({ name }: { name: string }) => name)).toContain("New");
	expect(await read(mcp, uris.backup)).toEqual([{ uri: uris.backup, mimeType: "application/json", text: backup }]);
	expect(await read(mcp, uris.job)).toEqual([{ uri: uris.job, mimeType: "text/plain", text: await job() }]);
	const [plan] = await read(mcp, uris.plan);
	expect(plan?.text).toStartWith("Plan for The Cooks ");
	const calls = await world.expectResult("list_recent_tool_calls", { limit: 1 });
	expect(calls).toContain("plan_guild");
});

worldTest("a plan that waits is read whole", async (world) => {
	const document = { roles: [{ name: "New" }, { name: "Newer" }] };
	const shown = await world.expectResult("plan_guild", { document });
	const hash = /plan_hash=(\w+)/.exec(shown)?.[1] ?? "";
	expect(await world.expectResult("plan_guild", { plan_hash: hash })).toBe(shown);
	const [plan] = await read(world.mcp, `guildhall:/guilds/${world.guild.id}/plans/${hash}`);
	expect(plan?.text).toBe(shown);
});

worldTest("the templates name what can be read", async ({ mcp }) => {
	const { resourceTemplates } = (await mcp.request("resources/templates/list", {})) as {
		resourceTemplates: { uriTemplate: string }[];
	};
	expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
		"guildhall:/guilds/{guild_id}/document",
		"guildhall:/guilds/{guild_id}/backups/{backup}",
		"guildhall:/guilds/{guild_id}/plans/{plan_hash}",
		"guildhall:/guilds/{guild_id}/jobs/{job_id}",
	]);
});

test("people read only what its tool would show them, and nothing else is there for them", async () => {
	await using world = await startWorld({}, token);
	const { mcp, simulator, guild } = world;
	const { uris } = await withPast(world);
	const bakers = addToBakers(world);
	const baker = simulator.world.users.add({ username: "a_baker" });
	simulator.world.members.add(bakers, baker);
	giveRole({ simulator, guild: bakers }, "a_baker", { permissions: PermissionFlagsBits.Administrator });
	await world.heard();
	const as = (id: string, more: Partial<Principal> = {}) =>
		mcp.as({ id: "key:x", name: "x", access: "read", person: { id, name: "", signedIn: false }, ...more });
	const cook = as(memberNamed(world, "mona_lisa").user.id);
	const stranger = as(baker.id);
	expect((await listed(cook)).resources).toEqual([]);
	expect((await listed(stranger)).resources.map(({ uri }) => uri)).toEqual([`guildhall:/guilds/${bakers.id}/document`]);
	const unknown = "123456789012345678";
	for (const uri of Object.values(uris)) {
		await expect(read(cook, uri)).rejects.toThrow("ADMINISTRATOR");
		const text = (one: string) =>
			read(stranger, one).then(
				() => "read",
				({ message }) => message.replace(/\d{17,20}/g, "ID"),
			);
		expect(await text(uri)).toBe(await text(uri.replace(guild.id, unknown)));
		expect(await text(uri)).not.toBe("read");
	}
	const backups = as(baker.id, { toolsets: ["messages"] });
	expect((await listed(backups)).resources).toEqual([]);
	await expect(read(backups, `guildhall:/guilds/${bakers.id}/document`)).rejects.toThrow();
});

test("what the operator denies is not a resource either", async () => {
	await using world = await startWorld({}, { toml: { mcp: { tools: { deny: ["export_guild"] } } } });
	const { uris } = await withPast(world);
	expect((await listed(world.mcp)).resources.map(({ uri }) => uri)).toEqual([uris.plan, uris.job]);
	await expect(read(world.mcp, uris.backup)).rejects.toThrow("export_guild is not allowed");
});

worldTest("a URI that is none of ours is not found", async ({ mcp, guild }) => {
	const paths = ["", "document/1", "backups", "backups/../1", "members", "__proto__", "document?x"];
	const uris = [...paths.map((path) => `guildhall:/guilds/${guild.id}/${path}`), "file:///etc/passwd", undefined];
	for (const uri of uris) await expect(mcp.request("resources/read", { uri })).rejects.toThrow("Resource not found");
	await expect(mcp.request("resources/list", { cursor: "x" })).rejects.toThrow("accepts no cursor");
});

worldTest("the plan's page is one file that loads nothing, and plan_guild names it", async ({ mcp }) => {
	const tools = await mcp.listTools();
	const named = tools.filter(({ _meta }) => _meta !== undefined && "ui" in Object(_meta));
	expect(named.map(({ name, _meta }) => [name, Object(_meta).ui])).toEqual([
		["plan_guild", { resourceUri: "ui://plan" }],
	]);
	const [page, ...others] = await read(mcp, "ui://plan");
	expect(others).toEqual([]);
	expect(page).toMatchObject({ mimeType: "text/html;profile=mcp-app", _meta: { ui: { prefersBorder: true } } });
	const { text = "" } = page ?? {};
	expect(text).toStartWith("<!doctype html>");
	expect(text).not.toMatch(/\bsrc=|\bhref=|url\(|@import|^import |innerHTML|fetch\(|<\/script>[\s\S]*<\/script>/m);
	expect(Buffer.byteLength(text)).toBeLessThan(20_000);
});
