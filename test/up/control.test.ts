import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProgramStatus, UpStatus } from "../../src/lib/instances/control.ts";
import { listenForCommands, respond } from "../../src/up/control.ts";
import type { Programs } from "../../src/up/programs.ts";
import { until } from "../support/until.ts";

const disposables: (() => void)[] = [];
afterEach(() => {
	for (const dispose of disposables.splice(0)) dispose();
});

/** Returns programs that record the requests to them. */
function fakePrograms() {
	const asked: string[] = [];
	const note = (what: string) => async (name: string) => {
		asked.push(`${what} ${name}`);
		return { url: "http://127.0.0.1:1/mcp" };
	};
	const programs = {
		bots: [{ entry: { name: "alpha" } }, { entry: { name: "beta" } }],
		restart: note("restart"),
		start: note("start"),
		pause: async (name: string) => void asked.push(`pause ${name}`),
		stop: async (name: string) => void asked.push(`stop ${name}`),
	} as unknown as Programs;
	return { programs, asked };
}

const programs: ProgramStatus[] = [{ name: "alpha", state: "stopped", isHalted: true, seconds: 1, restarts: 0 }];

const status: UpStatus = { pid: 1, version: "0", directory: "/instances", programs };

const common = {
	status: () => status,
	log: (name: string) => [`${name}: a line`],
	check: async (name: string) => [`${name} checked`],
	async add(name: string, token: string) {
		if (token === "bad") throw new Error("a bad token");
		return [`${name} with a ${token} token`];
	},
};

const ask = (line: string, { programs } = fakePrograms()) => respond(line, { ...common, programs });

test("a request is carried out and answered", async () => {
	const fake = fakePrograms();
	expect(await ask('{"command":"status"}', fake)).toEqual({ status });
	for (const [request, response] of [
		[{ command: "log", name: "gateway" }, { lines: ["gateway: a line"] }],
		[{ command: "check", name: "beta" }, { lines: ["beta checked"] }],
		[{ command: "add", name: "gamma", token: "good" }, { lines: ["gamma with a good token"] }],
		[{ command: "add", name: "gamma", token: "bad" }, { error: "a bad token" }],
		[{ command: "restart", name: "alpha" }, { lines: ["alpha listens at http://127.0.0.1:1/mcp."] }],
		[{ command: "restart", name: "gateway" }, { lines: ["gateway listens at http://127.0.0.1:1/mcp."] }],
		[{ command: "pause", name: "gateway" }, { lines: ["gateway is stopped."] }],
		[{ command: "start", name: "beta" }, { lines: ["beta listens at http://127.0.0.1:1/mcp."] }],
		[{ command: "stop", name: "beta" }, { lines: ["beta is stopped."] }],
	] as const)
		expect(await ask(JSON.stringify(request), fake)).toEqual(response);
	expect(fake.asked).toEqual(["restart alpha", "restart gateway", "pause gateway", "start beta", "stop beta"]);
});

test.each([
	["gamma", "there is no instance gamma; there are: alpha, beta"],
	["", 'there is no instance ""; there are: alpha, beta'],
	["../alpha", 'there is no instance "../alpha"; there are: alpha, beta'],
	["__proto__", "there is no instance __proto__; there are: alpha, beta"],
	["\u001b[2J", 'there is no instance "\\u001b[2J"; there are: alpha, beta'],
])("an unknown name is refused: %j", async (name, error) => {
	const fake = fakePrograms();
	for (const command of ["restart", "stop", "start", "log", "check"])
		expect(await ask(JSON.stringify({ command, name }), fake)).toEqual({ error });
	expect(fake.asked).toEqual([]);
});

test.each(["stop", "start"])("the gateway has no %s", async (command) => {
	const response = await ask(JSON.stringify({ command, name: "gateway" }));
	expect(response).toEqual({ error: `the gateway can only be restarted; end up itself to ${command} it` });
});

test.each([
	"",
	"null",
	"[]",
	"status",
	'{"command":"kill","name":"alpha"}',
	'{"command":"constructor","name":"alpha"}',
	'{"command":"restart"}',
	'{"command":"restart","name":["alpha"]}',
	'{"command":["restart"],"name":"alpha"}',
	'{"command":"add","name":"alpha","token":7}',
])("%j is no request", async (line) => {
	const fake = fakePrograms();
	expect(await ask(line, fake)).toEqual({ error: "the request is not valid" });
	expect(fake.asked).toEqual([]);
});

test("an error of a program is the answer", async () => {
	const { programs } = fakePrograms();
	programs.restart = () => Promise.reject(new Error("EMFILE"));
	const line = '{"command":"restart","name":"alpha"}';
	expect(await ask(line, { programs, asked: [] })).toEqual({ error: "EMFILE" });
});

/** A socket in a directory of its own. */
function listen(given = fakePrograms().programs) {
	const directory = mkdtempSync(join(tmpdir(), "guildhall-test-"));
	const path = join(directory, "control.sock");
	writeFileSync(path, "left by a killed process");
	const end = listenForCommands({ ...common, path, programs: given });
	disposables.push(() => {
		end();
		rmSync(directory, { recursive: true, force: true });
	});
	return { path, end };
}

const post = (path: string, body: string) => fetch("http://up/", { unix: path, method: "POST", body });

test("only the owner can use the socket, which replaces one left behind and goes at the end", () => {
	const { path, end } = listen();
	expect(statSync(path).isSocket()).toBe(true);
	expect(statSync(path).mode & 0o777).toBe(0o600);
	end();
	expect(existsSync(path)).toBe(false);
});

test("a request is answered over the socket, and a long one is refused", async () => {
	const { path } = listen();
	expect(await (await post(path, '{"command":"status"}')).json()).toEqual({ status });
	expect((await post(path, "x".repeat(5_000))).ok).toBe(false);
});

test("more than 16 requests at a time are refused, and the next ones are not", async () => {
	const { programs } = fakePrograms();
	const stopped = Promise.withResolvers<boolean>();
	let waiting = 0;
	programs.stop = () => {
		waiting++;
		return stopped.promise;
	};
	const { path } = listen(programs);
	const stop = '{"command":"stop","name":"alpha"}';
	const open = Array.from({ length: 16 }, () => post(path, stop));
	await until("they wait", () => waiting === 16);
	expect(await (await post(path, stop)).json()).toEqual({ error: "too many commands at once" });
	stopped.resolve(false);
	for (const response of open) expect(await (await response).json()).toEqual({ lines: ["alpha is stopped."] });
	expect(await (await post(path, stop)).json()).toEqual({ lines: ["alpha is stopped."] });
});
