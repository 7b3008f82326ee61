import { expect, test } from "bun:test";
import { join } from "node:path";

test.each([
	["", "plain-event,one-piece"],
	["off", ""],
	["no-plain-event", "one-piece"],
])("with MCP_FAST_PATHS=%s the fast paths are: %s", async (setting, paths) => {
	const file = JSON.stringify(join(import.meta.dir, "../../src/mcp/fast/switch.ts"));
	const code = `
		const { fastPathNames, usesFastPath } = await import(${file});
		console.log(fastPathNames.filter(usesFastPath).join());
	`;
	const child = Bun.spawn([process.execPath, "-e", code], {
		env: { ...process.env, MCP_FAST_PATHS: setting },
		stdout: "pipe",
	});
	expect(await child.exited).toBe(0);
	expect((await child.stdout.text()).trim()).toBe(paths);
});
