// Runs the image's files as in a container: as the first process and the image's user, in a read-only root that
// contains only them and the C library. Creating this root takes Linux and root.

import { expect, test } from "bun:test";
import {
	chmodSync,
	chownSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { freePort } from "../../src/demo/ports.ts";
import { buildImages, type Image } from "../support/images.ts";
import { connectTo } from "../support/mcp.ts";
import { becomesReady, childrenOf, startCommand } from "../support/program.ts";
import { startSimulator } from "../support/simulator.ts";
import { until } from "../support/until.ts";

const missing = findMissing();
if (missing) console.warn(`no read-only roots: ${missing}`);

function findMissing(): string | undefined {
	if (process.platform !== "linux") return "this is not Linux";
	if (process.getuid?.() !== 0) return "only root may make them";
	if (["unshare", "ldd", "chroot"].some((name) => !Bun.which(name))) return "unshare, ldd or chroot is missing";
	const { success } = Bun.spawnSync([...["unshare", "--mount", "--pid", "--fork", "--mount-proc", "true"]]);
	return success ? undefined : "namespaces may not be made";
}

const token = "0123456789abcdef0123456789abcdef";

/** Runs "$@" in the root $0, in which /data is what stands in $DATA. */
const script = `set -e
mount --bind "$0" "$0"
if [ -n "$DATA" ]; then mount --bind "$DATA" "$0/data"; fi
mount -t proc proc "$0/proc"
mount --rbind /dev "$0/dev"
mount -o remount,ro,bind "$0"
exec chroot --userspec="$OWNER" "$0" "$@"`;

/** Puts into an image what its base has: the C library, and places for what an engine mounts. */
function addBase({ root, entrypoint: [file = ""] }: Image): void {
	const { stdout } = Bun.spawnSync(["ldd", join(root, file)]);
	for (const [library] of stdout.toString().matchAll(/(?<=[\s])\/\S+/g)) {
		mkdirSync(join(root, dirname(library)), { recursive: true });
		cpSync(library, join(root, library), { dereference: true });
	}
	for (const directory of ["config", "proc", "dev"]) mkdirSync(join(root, directory));
}

/** Runs one of an image's commands in it. */
function runIn({ root, env, user }: Image, command: readonly string[], more: Record<string, string>, data = "") {
	const namespaces = ["--mount", "--pid", "--fork", "--kill-child"];
	return startCommand(
		["unshare", ...namespaces, "sh", "-c", script, root, ...command],
		{ ...env, ...more, DATA: data, OWNER: user, PATH: process.env.PATH ?? "" },
		{ cwd: "/" },
	);
}

/** Creates the image's root directory, and a volume that belongs to the image's user. */
async function makeRoot(stack: AsyncDisposableStack) {
	const directory = mkdtempSync(join(tmpdir(), "guildhall-roots-"));
	stack.defer(() => rmSync(directory, { recursive: true, force: true }));
	chmodSync(directory, 0o755);
	const images = await buildImages(directory, ["guildhall"]);
	const { guildhall: image } = images as { guildhall: Image };
	addBase(image);
	const volume = join(directory, "volume");
	mkdirSync(volume, { mode: 0o700 });
	chownSync(volume, 65_532, 65_532);
	return { image, volume };
}

test.skipIf(missing !== undefined)(
	"gateway and bot serve, are healthy and stop, with nothing to write to but /data",
	async () => {
		await using stack = new AsyncDisposableStack();
		const { image, volume } = await makeRoot(stack);
		await Bun.write(join(image.root, "config/config.toml"), 'bot_name = "x"\n');
		const simulator = stack.use(await startSimulator());
		const ports = { bot: await freePort(), gateway: await freePort() };

		const botEnv = {
			MCP_PORT: String(ports.bot),
			MCP_AUTH_TOKEN: token,
			DISCORD_TOKEN: simulator.bot("alpha").token,
			DISCORD_API_URL: simulator.api,
		};
		const gatewayEnv = {
			INSTANCES: `alpha=http://127.0.0.1:${ports.bot}`,
			MCP_AUTH_TOKEN: token,
			GATEWAY_PORT: String(ports.gateway),
		};
		const programs = [];
		for (const [name, port, env, data] of [
			["bot", ports.bot, botEnv, volume],
			["gateway", ports.gateway, gatewayEnv, ""],
		] as const) {
			const command = [...image.entrypoint, name];
			const program = runIn(image, command, env, data);
			stack.use(program);
			programs.push(program);
			await becomesReady(program, `http://127.0.0.1:${port}`);
			await using check = runIn(image, [...command, "--health"], env, data);
			expect(await check.exited).toBe(0);
		}
		const url = `http://127.0.0.1:${ports.gateway}/mcp`;
		const { call } = await connectTo(url, token);
		await until("the bot has logged in", async () => {
			const { text } = await call("list_guilds", { instance: "alpha" });
			return text.includes("1 guild(s)");
		});
		await until("its store is in the volume", () => existsSync(join(volume, "store.sqlite")));
		for (const program of programs.reverse()) {
			const [first] = await childrenOf(program.pid);
			process.kill(first ?? 0, "SIGTERM");
			expect(await program.exited).toBe(0);
			expect(program.lines.join("\n")).toContain('"cause":"SIGTERM"');
		}
	},
);

test.skipIf(missing !== undefined)(
	"new-instance makes an instance, and `guildhall up` runs it, with nothing to write to but the instances",
	async () => {
		await using stack = new AsyncDisposableStack();
		const { image, volume } = await makeRoot(stack);
		const simulator = stack.use(await startSimulator());
		const port = await freePort();
		const env = { GUILDHALL_INSTANCES: "/data", GATEWAY_PORT: String(port) };
		const run = (...args: string[]) => runIn(image, [...image.entrypoint, ...args], env, volume);
		await using made = run("new-instance", "alpha");
		expect([await made.exited, made.lines.join("\n")]).toEqual([0, expect.stringContaining("Wrote /data/alpha")]);
		const variables = join(volume, "alpha/.env");
		const { token } = simulator.bot("alpha");
		writeFileSync(
			variables,
			readFileSync(variables, "utf8")
				.replace("DISCORD_TOKEN=your-bot-token", `DISCORD_TOKEN=${token}`)
				.replace(/^MCP_PORT=.*$/m, `MCP_PORT=${await freePort()}`)
				.concat(`\nDISCORD_API_URL=${simulator.api}\n`),
		);
		const program = stack.use(run(...image.command));
		await becomesReady(program, `http://127.0.0.1:${port}`);
		await using check = runIn(image, image.healthcheck, env, volume);
		expect(await check.exited).toBe(0);
		const file = readFileSync(join(volume, "gateway.env"), "utf8");
		const url = `http://127.0.0.1:${port}/mcp`;
		const { call } = await connectTo(url, parseEnv(file).MCP_AUTH_TOKEN ?? "");
		await until("the bot has logged in", async () => {
			const { text } = await call("list_guilds", { instance: "alpha" });
			return text.includes("1 guild(s)");
		});
		await until("its store is among the instances", () => existsSync(join(volume, "alpha/data/store.sqlite")));
		const [first] = await childrenOf(program.pid);
		process.kill(first ?? 0, "SIGTERM");
		expect(await program.exited).toBe(0);
	},
);
