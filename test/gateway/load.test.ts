import { expect, test } from "bun:test";
import { join, relative } from "node:path";
import type { Console, ConsoleOptions } from "../../src/gateway/console/console.ts";
import { createLazyConsole } from "../../src/gateway/load.ts";
import { until } from "../support/until.ts";

const hour = 3_600_000;
const http = { requestIP: () => null, timeout() {} };

/** A console that answers "page". Counts how often it is loaded; the first `failures` times, loading fails. */
function start({ afterMs, failures = 0 }: { afterMs: number; failures?: number }) {
	const counts = { loaded: 0, closed: 0 };
	const page: Console = { respond: () => new Response("page"), close: () => counts.closed++ };
	const load = () => {
		if (++counts.loaded <= failures) throw new Error("disk full");
		return { createConsole: () => page };
	};
	const console = createLazyConsole({} as ConsoleOptions, { afterMs, load });
	const get = (path: string) => console.respond(new Request(`http://localhost${path}`), path, http);
	return { console, counts, get };
}

test("a request for the console loads it once, and requests for other paths do not", async () => {
	const { console, counts, get } = start({ afterMs: hour });
	expect(get("/mcp")).toBeUndefined();
	expect(counts.loaded).toBe(0);
	for (const path of ["/console", "/console/api/state"]) expect(await (await get(path))?.text()).toBe("page");
	console.close();
	expect(counts).toEqual({ loaded: 1, closed: 1 });
});

test("the console is loaded without a request", async () => {
	const { console, counts, get } = start({ afterMs: 0 });
	await until("the console is loaded", () => counts.loaded === 1);
	expect(await (await get("/console"))?.text()).toBe("page");
	console.close();
	expect(counts).toEqual({ loaded: 1, closed: 1 });
});

test("a console that could not be loaded is loaded at the next request", async () => {
	const { console, counts, get } = start({ afterMs: 0, failures: 2 });
	await until("the first attempt", () => counts.loaded === 1);
	expect(() => get("/console")).toThrow("disk full");
	expect(await (await get("/console"))?.text()).toBe("page");
	console.close();
	expect(counts).toEqual({ loaded: 3, closed: 1 });
});

test("a console that is loaded while the gateway stops is closed", async () => {
	const { console, counts, get } = start({ afterMs: hour });
	console.close();
	expect(counts).toEqual({ loaded: 0, closed: 0 });
	await get("/console");
	expect(counts).toEqual({ loaded: 1, closed: 1 });
});

const src = join(import.meta.dir, "../../src");

/** Returns what a file of src/ imports when it is loaded, directly or through other files: names of modules and files. */
async function loadedWith(file: string, found = new Set<string>()): Promise<Set<string>> {
	found.add(relative(src, file));
	const source = await Bun.file(file).text();
	const imports = new Bun.Transpiler({ loader: "ts" }).scanImports(source);
	for (const { kind, path } of imports) {
		if (kind !== "import-statement") continue;
		const target = Bun.resolveSync(path, join(file, ".."));
		if (!target.startsWith(src)) found.add(path);
		else if (target.endsWith(".ts") && !found.has(relative(src, target))) await loadedWith(target, found);
	}
	return found;
}

test.each(["gateway/main.ts", "gateway/console/console.ts"])(
	"%s loads neither modules of Node nor the database",
	async (file) => {
		const loaded = [...(await loadedWith(join(src, file)))];
		expect(loaded).toContain("mcp/access.ts");
		// Each takes 1 to 4 MiB and some milliseconds, mostly for parts of Bun that nothing else uses.
		const isOfNode = (name: string) => /^(node:|bun$|bun:)/.test(name);
		expect(loaded.filter(isOfNode)).toEqual([]);
		expect(loaded).not.toContain("lib/store/store.ts");
		expect(loaded).not.toContain("gateway/oauth/oauth.ts");
	},
);
