// Guild documents, backups, plans and jobs as resources of the bot.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { PermissionFlagsBits } from "discord.js";
import type { Principal } from "../../../src/lib/principal.ts";
import type { McpCaller } from "../../support/mcp.ts";
import { until } from "../../support/until.ts";
import { addToBakers, giveRole, memberNamed, startWorld, type TestWorld, worldTest } from "../../support/world.ts";

interface Listed {
	resources: { uri: string; size?: number }[];
	resourceTemplates: { uriTemplate: string }[];
}

const backup = '{"version":1,"name":"Zoë"}';
const uriIn = ({ id }: { id: string }, path: string) => `guildhall:/guilds/${id}/${path}`;

/** The guild has a backup, and a plan that was carried out. Returns the URIs by kind, and how `get_job` shows the job. */
async function withPast({ guild, dataDirectory, expectResult }: TestWorld) {
	using file = new Database(join(dataDirectory, "store.sqlite"));
	file.run(
		"INSERT INTO guild_backups (guild_id, number, made_at, guild_name, length, sha256, channels, roles, omitted, document) VALUES (?, 7, 0, 'The Cooks', ?, '', 1, 1, '', ?)",
		[guild.id, Buffer.byteLength(backup), backup],
	);
	const guild_id = guild.id;
	const shown = await expectResult("plan_guild", { guild_id, document: { roles: [{ name: "New" }] } });
	const plan_hash = /plan_hash=(\w+)/.exec(shown)?.[1] ?? "";
	const applied = await expectResult("apply_guild", { guild_id, plan_hash });
	const job_id = /\bjob (\w{12})\b/i.exec(applied)?.[1] ?? "";
	const job = () => expectResult("get_job", { guild_id, job_id });
	await until("the job has ended", async () => !(await job()).includes("running"));
	const paths = { document: "document", backup: "backups/7", plan: `plans/${plan_hash}`, job: `jobs/${job_id}` };
	const uris = Object.entries(paths).map(([kind, path]) => [kind, uriIn(guild, path)]);
	return { uris: Object.fromEntries(uris) as typeof paths, job: await job() };
}

async function read(mcp: McpCaller, uri: unknown) {
	const { contents } = (await mcp.request("resources/read", { uri })) as { contents: { text: string }[] };
	expect(contents).toHaveLength(1);
	return { text: "", ...contents[0] };
}
const list = (mcp: McpCaller, method = "list") => mcp.request(`resources/${method}`, {}) as Promise<Listed>;
const listed = async (mcp: McpCaller) => (await list(mcp)).resources.map(({ uri }) => uri);

worldTest("what a guild has is listed with its size and by templates, and read as its tool shows it", async (world) => {
	const { mcp } = world;
	const { uris, job } = await withPast(world);
	const { resources } = await list(mcp);
	expect(resources.map(({ uri, size }) => [uri, size])).toEqual([
		[uris.document, undefined],
		[uris.backup, Buffer.byteLength(backup)],
		[uris.plan, undefined],
		[uris.job, Buffer.byteLength(job)],
	]);
	const mimeType = "application/json";
	expect(resources[1]).toEqual({
		uri: uris.backup,
		name: "backups 7",
		title: "The Cooks: Backup 7",
		mimeType,
		size: Buffer.byteLength(backup),
		annotations: { lastModified: "1970-01-01T00:00:00.000Z" },
	} as never);
	const { resourceTemplates } = await list(mcp, "templates/list");
	expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(
		["document", "backups/{backup}", "plans/{plan_hash}", "jobs/{job_id}"].map((path) =>
			uriIn({ id: "{guild_id}" }, path),
		),
	);
	const document: { roles: { name: string }[] } = JSON.parse((await read(mcp, uris.document)).text);
	expect(document.roles.map(({ name }) => name)).toContain("New");
	expect(await read(mcp, uris.backup)).toEqual({ uri: uris.backup, mimeType, text: backup } as never);
	expect(await read(mcp, uris.job)).toEqual({ uri: uris.job, mimeType: "text/plain", text: job } as never);
	expect((await read(mcp, uris.plan)).text).toStartWith("Plan for The Cooks ");
	expect(await world.expectResult("list_recent_tool_calls", { limit: 1 })).toContain("plan_guild");

	const shown = await world.expectResult("plan_guild", {
		document: { roles: [{ name: "Newer" }, { name: "Newest" }] },
	});
	const plan_hash = /plan_hash=(\w+)/.exec(shown)?.[1] ?? "";
	expect(await world.expectResult("plan_guild", { plan_hash })).toBe(shown);
	expect((await read(mcp, uriIn(world.guild, `plans/${plan_hash}`))).text).toBe(shown);
});

test("people read only what its tool would show them, and nothing else is there for them", async () => {
	await using world = await startWorld({}, { mcpToken: "a-token" });
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
	const own = uriIn(bakers, "document");
	expect(await listed(cook)).toEqual([]);
	expect(await listed(stranger)).toEqual([own]);
	const refusal = (uri: string) =>
		read(stranger, uri).then(
			() => "read",
			({ message }) => message.replace(/\d{17,20}/g, "ID"),
		);
	for (const uri of Object.values(uris)) {
		await expect(read(cook, uri)).rejects.toThrow("ADMINISTRATOR");
		expect(await refusal(uri)).not.toBe("read");
		expect(await refusal(uri)).toBe(await refusal(uri.replace(guild.id, "123456789012345678")));
	}
	const limited = as(baker.id, { toolsets: ["messages"] });
	expect(await listed(limited)).toEqual([]);
	await expect(read(limited, own)).rejects.toThrow();
});

test("what the operator denies is not a resource either", async () => {
	await using world = await startWorld({}, { toml: { mcp: { tools: { deny: ["export_guild"] } } } });
	const { uris } = await withPast(world);
	expect(await listed(world.mcp)).toEqual([uris.plan, uris.job]);
	await expect(read(world.mcp, uris.backup)).rejects.toThrow("export_guild is not allowed");
});

worldTest("a URI that is none of ours is not found", async ({ mcp, guild }) => {
	const paths = ["", "document/1", "backups", "backups/../1", "members", "__proto__", "document?x"];
	for (const uri of [...paths.map((path) => uriIn(guild, path)), "file:///etc/passwd", undefined])
		await expect(read(mcp, uri)).rejects.toThrow("Resource not found");
	await expect(mcp.request("resources/list", { cursor: "x" })).rejects.toThrow("accepts no cursor");
});

worldTest("the plan's page is one file that loads nothing, and plan_guild names it", async ({ mcp }) => {
	const named = (await mcp.listTools()).filter(({ _meta }) => "ui" in Object(_meta));
	expect(named).toMatchObject([{ name: "plan_guild", _meta: { ui: { resourceUri: "ui://plan" } } }]);
	const page = await read(mcp, "ui://plan");
	expect(page).toMatchObject({ mimeType: "text/html;profile=mcp-app", _meta: { ui: { prefersBorder: true } } });
	expect(page.text).toStartWith("<!doctype html>");
	expect(page.text).not.toMatch(/\bsrc=|\bhref=|url\(|@import|^import |innerHTML|fetch\(|<\/script>[\s\S]*<\/script>/m);
	expect(Buffer.byteLength(page.text)).toBeLessThan(20_000);
});
