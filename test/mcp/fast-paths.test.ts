import { expect, test } from "bun:test";
import { join } from "node:path";

const fast = (file: string) => JSON.stringify(join(import.meta.dir, "../../src/mcp/fast", file));

/** Whether fast paths are taken, and a list as it is sent, plain and unpacked. */
async function listWith(env: Record<string, string>): Promise<string[]> {
	const code = `
		const { usesFastPath } = await import(${fast("switch.ts")});
		const { ToolList } = await import(${fast("tool-list.ts")});
		const tools = Array.from({ length: 99 }, (_, n) => ({ name: "tool" + n, title: "ü\\n" }));
		const list = new ToolList(JSON.stringify({ tools }, null, 1).replace(/^\\{\\s*"tools": /, '{"tools":'));
		const event = list.response('"id ö"', { ttlMs: 1 });
		const text = (bytes) => Buffer.from(bytes).toString("hex");
		console.log([usesFastPath("tool-list"), text(event.plain()), text(Bun.gunzipSync(event.gzip()))].join(" "));
	`;
	const child = Bun.spawn([process.execPath, "-e", code], { env: { ...process.env, ...env }, stdout: "pipe" });
	expect(await child.exited).toBe(0);
	return (await child.stdout.text()).trim().split(" ");
}

test("MCP_FAST_PATHS=off switches fast paths off, and every byte of a list stays", async () => {
	const [on, plain, unpacked] = await listWith({ MCP_FAST_PATHS: "" });
	expect([on, unpacked]).toEqual(["true", plain as string]);
	expect(await listWith({ MCP_FAST_PATHS: "off" })).toEqual(["false", plain as string, plain as string]);
});

test("MCP_FAST_PATHS=no-NAME switches one fast path off", async () => {
	const code = `
		const { fastPathNames, usesFastPath } = await import(${fast("switch.ts")});
		console.log(fastPathNames.filter(usesFastPath).join());
	`;
	const child = Bun.spawn([process.execPath, "-e", code], {
		env: { ...process.env, MCP_FAST_PATHS: "no-plain-event,no-one-piece" },
		stdout: "pipe",
	});
	expect(await child.exited).toBe(0);
	expect((await child.stdout.text()).trim()).toBe("tool-list");
});
