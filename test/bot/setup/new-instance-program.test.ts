// new-instance takes the bot's token from a terminal or stdin.

import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { variablesOf } from "../../../src/bot/setup/new-instance-program.ts";

const main = join(import.meta.dir, "../../../src/guildhall/main.ts");
const base64 = (text: string) => Buffer.from(text).toString("base64url");
const token = `${base64("1284937281933627402")}.Gabcde.${"x".repeat(38)}`;

/** Creates a temporary directory in which the program runs. */
function workplace() {
	const path = mkdtempSync(join(tmpdir(), "guildhall-token-"));
	const command = [process.execPath, main, "new-instance"];
	return {
		env: (name: string) => parseEnv(readFileSync(join(path, "instances", name, ".env"), "utf8")),
		mode: (name: string) => statSync(join(path, "instances", name, ".env")).mode & 0o777,
		exists: (name: string) => existsSync(join(path, "instances", name)),
		pipe(input: string, ...args: string[]) {
			const { exitCode, stdout, stderr } = Bun.spawnSync([...command, ...args], {
				cwd: path,
				stdin: Buffer.from(input),
				env: { PATH: process.env.PATH },
			});
			return { code: exitCode, text: `${stdout}${stderr}` };
		},
		/** Runs the program at a terminal. Waits for each text, then types the keys beside it. */
		async type(args: string[], exchanges: [waitFor: string, keys: string][]) {
			let text = "";
			let seen = 0;
			const left = [...exchanges];
			await using program = Bun.spawn([...command, ...args], {
				cwd: path,
				env: { PATH: process.env.PATH, TERM: "xterm" },
				terminal: {
					data(terminal, bytes) {
						text += Buffer.from(bytes).toString();
						const [next] = left;
						const at = next ? text.indexOf(next[0], seen) : -1;
						if (!next || at < 0) return;
						seen = at + next[0].length;
						left.shift();
						terminal.write(next[1]);
					},
				},
			});
			const code = await program.exited;
			return { code, text: text.replaceAll("\r\n", "\n") };
		},
		[Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
	};
}

test("a token tells the application's id, if both are known to be the same", () => {
	expect(variablesOf(undefined)).toEqual({});
	expect(variablesOf(token)).toEqual({ DISCORD_TOKEN: token, CLIENT_ID: "1284937281933627402" });
	// An application of 2015, whose bot has an id of its own.
	const old = `${base64("118154469865553920")}.a.b`;
	for (const other of [old, "alpha-token", "..", `${base64("x".repeat(18))}.`])
		expect(variablesOf(other)).toEqual({ DISCORD_TOKEN: other });
});

test("--token-stdin fills the token in, and shows it nowhere", () => {
	using place = workplace();
	const { code, text } = place.pipe(`${token}\n`, "alpha", "--token-stdin");
	expect(text).not.toContain(token);
	expect(text).not.toContain("DISCORD_TOKEN in");
	expect(text).toContain("client_id=1284937281933627402");
	expect(code).toBe(0);
	expect(place.env("alpha").DISCORD_TOKEN).toBe(token);
	expect(place.mode("alpha")).toBe(0o600);
	const again = place.pipe(`${token}\n`, "beta", "--token-stdin");
	expect([again.code, again.text]).toEqual([1, expect.stringContaining("alpha has it: each bot needs an application")]);
	expect(place.exists("beta")).toBe(false);
});

test.each([
	["", "it is empty"],
	["your-bot-token", "placeholder"],
	[`Bot ${token}`, 'leave out "Bot'],
	[`"${token}"`, "quotation marks"],
	[`${token}\nMCP_PORT=1`, "without spaces"],
	["hello", "Is it the Client Secret?"],
])("--token-stdin refuses %p, and nothing is made", (input, issue) => {
	using place = workplace();
	const { code, text } = place.pipe(input, "alpha", "--token-stdin");
	expect(text).toContain(issue);
	expect(text).not.toContain(token);
	expect(code).toBe(1);
	expect(place.exists("alpha")).toBe(false);
});

test("without a terminal it does not ask", () => {
	using place = workplace();
	const { code, text } = place.pipe(`${token}\n`, "alpha");
	expect(text).toContain("DISCORD_TOKEN in");
	expect(code).toBe(0);
	expect(place.env("alpha").DISCORD_TOKEN).toBe("your-bot-token");
});

test("at a terminal it asks once the name is known to be free, and does not show the token", async () => {
	using place = workplace();
	const asks = "Enter to fill it in later: ";
	const filled = await place.type(
		["alpha"],
		[
			[asks, `${token} x\r`],
			[asks, `${token}\r`],
		],
	);
	expect(filled.text).toContain("This is not a bot's token: expected visible");
	expect(filled.text).toContain("Wrote instances/alpha");
	expect(filled.text).not.toContain(token);
	expect(filled.code).toBe(0);
	expect(place.env("alpha").DISCORD_TOKEN).toBe(token);

	const taken = await place.type(["alpha"], []);
	expect(taken.text).not.toContain(asks);
	expect(taken.code).toBe(1);

	const later = await place.type(["beta"], [[asks, "\r"]]);
	expect(later.text).toContain("DISCORD_TOKEN in");
	expect(place.env("beta").DISCORD_TOKEN).toBe("your-bot-token");

	const cancelled = await place.type(["gamma"], [[asks, "\u0003"]]);
	expect(cancelled.text).toContain("Cancelled; nothing was changed.");
	expect(place.exists("gamma")).toBe(false);
});
