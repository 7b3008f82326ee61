import { expect, test } from "bun:test";
import { join } from "node:path";
import { createLineWriter } from "../../src/lib/log.ts";

test("the lines of one turn are written together, in order, and those of the next after them", async () => {
	const written: string[] = [];
	const write = createLineWriter((text) => written.push(text));
	write("one");
	write("two");
	await Bun.sleep(0);
	await new Promise((resolve) => setImmediate(resolve));
	write("three");
	await new Promise((resolve) => setImmediate(resolve));
	expect(written).toEqual(["one\ntwo", "three"]);
});

test("buffered lines are written when the process ends", async () => {
	const module = join(import.meta.dir, "../../src/lib/log.ts");
	const script = `
		import { createLineWriter } from ${JSON.stringify(module)};
		const write = createLineWriter(console.log);
		write("held");
		process.exit(3);
	`;
	const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
	expect(await new Response(child.stdout).text()).toBe("held\n");
	expect(await child.exited).toBe(3);
});
