// Command line of `guildhall upgrade`.

import { copyFileSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ConfigError } from "../lib/config.ts";
import { readGatewayEnv } from "../lib/instances/gateway-env.ts";
import { readTable } from "../lib/instances/table.ts";
import { accessIssue, becomeOwnerOf, defaultInstances } from "../lib/program/instances.ts";
import { build, isNewer, parseCommandLine, version } from "../lib/program/program.ts";
import { newestRelease, releasesAddress } from "../lib/program/releases.ts";
import { send } from "../up/commands.ts";
import { hashFile } from "./files.ts";
import script from "./install.sh" with { type: "text" };
import { describeFailure } from "./install.ts";
import { askUnless } from "./program.ts";
import { InstallRecord } from "./record.ts";
import { InstallError } from "./step.ts";
import { openSystem } from "./system.ts";
import { upgradePrograms } from "./upgrade.ts";

const usage = () => `Usage: guildhall upgrade [--from <url>] [--directory <directory>] [--yes] [--help]

Replaces this executable by the newest release, and the programs that "guildhall up" runs with it: fetches the release, verifies
its checksum, and asks. Then, one program after the other, it copies the database, restarts the program and checks its health.
If one fails, it puts the former executable and the copies back, and says what was written since. Databases in PostgreSQL are
not copied. "guildhall up" itself, which only starts the others, keeps its version until it is started again.

  --from       the address of a release's files (default: ${releasesAddress(process.env) || "none: the release was not published"})
  --directory  the directory of all instances (default: ${defaultInstances()})
  --yes        do not ask`;

const healthySeconds = 60;

export async function upgradeProgram(): Promise<never> {
	const options = { from: { type: "string" }, directory: { type: "string" }, yes: { type: "boolean" } } as const;
	const { directory, from, yes } = parseCommandLine(usage, options);
	try {
		const address = from?.replace(/\/$/, "") ?? releasesAddress(process.env);
		process.exit(await upgrade(resolve(directory || defaultInstances()), address, askUnless(yes)));
	} catch (error) {
		console.error(error instanceof ConfigError ? error.message : describeFailure(error));
		process.exit(1);
	}
}

async function upgrade(directory: string, address: string | undefined, ask: ReturnType<typeof askUnless>) {
	const present = process.execPath;
	if (!build) throw new InstallError("guildhall upgrade replaces an executable, but it runs from the sources here.");
	if (!address) throw new InstallError("This release was not published: name the address of another with --from.");
	const access = accessIssue(directory) ?? accessIssue(dirname(present));
	if (access) throw new InstallError(access);
	const wanted = await newestRelease(address).catch(({ message }) => {
		throw new InstallError(message);
	});
	if (!isNewer(wanted)) {
		console.log(`guildhall ${version} is the newest release; nothing to do.`);
		return 0;
	}
	const databases = databasesOf(directory);
	console.log(`This replaces ${present}, ${version}, by ${wanted}, and restarts bots and gateway of ${directory}.`);
	if (!(await ask("Continue?"))) return 1;
	const scratch = mkdtempSync(join(dirname(present), ".guildhall-upgrade-"));
	console.log(`… fetch ${address}, and verify it`);
	const command = ["sh", "-s", "--", "--version", wanted, "--from", address, "--to", scratch];
	const { success } = Bun.spawnSync(command, { stdin: Buffer.from(script), stdout: "ignore", stderr: "inherit" });
	if (!success) {
		rmSync(scratch, { recursive: true });
		return 1;
	}
	renameSync(join(scratch, "guildhall"), join(scratch, "new"));
	copyFileSync(present, join(scratch, "former"));
	// `guildhall install` and `uninstall` take both files for their own.
	const record = new InstallRecord(openSystem());
	const hashes = ["new", "former"].flatMap((name) => hashFile(join(scratch, name)) ?? []);
	if (record.content.files[present]) record.setFile(present, hashes);
	using mover = startMover(scratch, present);
	becomeOwnerOf(directory);
	const backups = join(directory, `.backups/${version}-${Date.now()}`);
	const isDone = await upgradePrograms({
		...{ databases, backups, place: mover.place, write: console.log },
		ask: (request) => send(directory, request),
		async wait(attempt) {
			await Bun.sleep(1_000);
			return attempt >= healthySeconds;
		},
	});
	console.log(
		`guildhall ${isDone ? wanted : version} runs${isDone ? "" : " again"}. Databases of before are in ${backups}.`,
	);
	return isDone ? 0 : 1;
}

/** A process that keeps the right to replace the executable when this one has become the owner of the instances. */
function startMover(scratch: string, executable: string) {
	const loop = `trap "" INT
while read -r name; do cp "$0/$name" "$0/next" && mv -f "$0/next" "$1" && echo done || echo failed; done
rm -rf "$0"`;
	const child = Bun.spawn(["sh", "-c", loop, scratch, executable], { stdin: "pipe", stdout: "pipe" });
	const results = child.stdout.getReader();
	return {
		async place(which: "new" | "former"): Promise<void> {
			child.stdin.write(`${which}\n`);
			await child.stdin.flush();
			const { value = new Uint8Array() } = await results.read();
			if (!Buffer.from(value).includes("done")) throw new InstallError(`Could not write ${executable}.`);
		},
		[Symbol.dispose]: () => void child.stdin.end(),
	};
}

function databasesOf(directory: string): Map<string, string> {
	const bots = readTable(directory).entries.map(({ name, path, env }) => {
		return [name, env.DATABASE_URL ?? resolve(env.DATA_DIR ?? join(path, "data"), "store.sqlite")] as const;
	});
	const own = readGatewayEnv(directory)?.variables.GATEWAY_DATABASE ?? join(directory, "gateway.sqlite");
	const all = new Map([...bots, ["gateway", own]]);
	for (const [name, place] of all)
		if (/^postgres/.test(place) && all.delete(name))
			console.log(`Note: the database of ${name} is not copied: PostgreSQL.`);
	return all;
}
