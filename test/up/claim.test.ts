import { afterAll, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { claimState, hasState, socketPath } from "../../src/up/claim.ts";
import { openPlace } from "../support/place.ts";

const stack = new DisposableStack();
afterAll(() => stack.dispose());

function workplace() {
	const { path, at } = stack.use(openPlace());
	return { path, state: at(".up") };
}

const message = "expected a directory of mode 700 that belongs to the user who runs this";

test("the directory that is made can be opened by its owner alone", () => {
	const { path, state } = workplace();
	expect(hasState(path)).toBe(false);
	const claim = claimState(path);
	expect(statSync(state).mode & 0o777).toBe(0o700);
	expect(hasState(path)).toBe(true);
	claim.release();
});

test("only one process has it at a time", () => {
	const { path } = workplace();
	const claim = claimState(path);
	expect(() => claimState(path)).toThrow("up runs there already; bun run up status shows it.");
	claim.release();
	claimState(path).release();
});

test("a file that cannot be locked is named, with the next step", () => {
	const { path, state } = workplace();
	claimState(path).release();
	writeFileSync(join(state, "claim.sqlite"), "garbage".repeat(1_000));
	expect(() => claimState(path)).toThrow(
		`${state} has 1 error:\n  it cannot be locked (SQLITE_NOTADB). Remove it: up makes it again`,
	);
});

test("the claim writes nothing", () => {
	const { path, state } = workplace();
	const claim = claimState(path);
	expect(() => claimState(path)).toThrow("up runs there already");
	expect(statSync(join(state, "claim.sqlite")).size).toBe(0);
	expect(existsSync(join(state, "claim.sqlite-journal"))).toBe(false);
	claim.release();
});

test("what a killed process left behind does not stop the next one", async () => {
	const { path } = workplace();
	const module = join(import.meta.dir, "../../src/up/claim.ts");
	const script = `
		import { claimState } from ${JSON.stringify(module)};
		claimState(${JSON.stringify(path)});
		process.kill(process.pid, "SIGKILL");
	`;
	const child = Bun.spawn([process.execPath, "-e", script]);
	await child.exited;
	expect(child.signalCode).toBe("SIGKILL");
	claimState(path).release();
});

test.each([
	["that others can open", 0o750],
	["that everybody can open", 0o1777],
	["that its owner cannot open", 0o600],
])("a directory %s is refused", (_, mode) => {
	const { path, state } = workplace();
	mkdirSync(state);
	chmodSync(state, mode);
	expect(() => claimState(path)).toThrow(message);
	expect(() => hasState(path)).toThrow(message);
	expect(statSync(state).mode & 0o777).toBe(mode & 0o777);
});

test("a link to a directory, and a file, are refused", () => {
	const elsewhere = workplace();
	mkdirSync(elsewhere.state, { mode: 0o700 });
	const linked = workplace();
	symlinkSync(elsewhere.state, linked.state);
	const broken = workplace();
	symlinkSync("/nowhere", broken.state);
	const file = workplace();
	writeFileSync(file.state, "");
	for (const { path } of [linked, broken, file]) {
		expect(() => claimState(path)).toThrow(message);
		expect(() => hasState(path)).toThrow(message);
	}
	expect(existsSync(join(elsewhere.state, "claim.sqlite"))).toBe(false);
});

test("a directory of another user is refused", () => {
	const { path, state } = workplace();
	if (process.getuid?.() !== 0) return;
	mkdirSync(state, { mode: 0o700 });
	Bun.spawnSync(["chown", "12345", state]);
	expect(() => claimState(path)).toThrow(message);
	expect(() => hasState(path)).toThrow(message);
});

test("a socket's path that is too long is an error, unless it is short from here", () => {
	const { path } = workplace();
	const state = join(path, ".up/control.sock");
	expect([state, relative(process.cwd(), state)]).toContain(socketPath(path));
	expect(socketPath(join(process.cwd(), "instances"))).toBe("instances/.up/control.sock");
	expect(socketPath(join(process.cwd(), "i".repeat(80)))).toHaveLength(97);
	for (const name of ["i".repeat(100), "é".repeat(60)])
		expect(() => socketPath(join(path, name))).toThrow(
			/the path of the socket in it has \d+ bytes, but at most 10[37] are allowed: run up and its commands in the directory above/,
		);
});
