// Command line of `guildhall upgrade`.

import { existsSync, linkSync, readdirSync, readlinkSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { UpStatus } from "../lib/instances/control.ts";
import { becomeOwnerOf, defaultInstances, requireAccess } from "../lib/program/instances.ts";
import { build, exitAfter, isNewer, parseCommandLine, version } from "../lib/program/program.ts";
import { newestRelease, releasesAddress } from "../lib/program/releases.ts";
import { send } from "../up/commands.ts";
import { hashFile } from "./files.ts";
import script from "./install.sh" with { type: "text" };
import { canBeSolved } from "./install.ts";
import { lockSystem } from "./lock.ts";
import { askUnless } from "./program.ts";
import { InstallRecord } from "./record.ts";
import { InstallError } from "./step.ts";
import { openSystem } from "./system.ts";
import { upgradePrograms } from "./upgrade.ts";

const keptBackups = 3;

const usage = () => `Usage: guildhall upgrade [--from <url>] [--directory <directory>] [--yes] [--help]

Replaces this executable by the newest release, and the programs that "guildhall up" runs with it: fetches the release, verifies
its checksum, and asks. Then it copies the databases, and restarts one program after the other and checks its health.
If one fails, it puts the former executable and the copies back, and says what was written since. Databases in PostgreSQL are
not copied. The copies of the last ${keptBackups} upgrades are kept. If it was killed, run it again: it goes on.

  --from       the address of a release's files (default: ${releasesAddress(process.env) || "none: the release was not published"})
  --directory  the directory of all instances (default: ${defaultInstances()})
  --yes        do not ask`;

const healthySeconds = 60;
const upIsFormer = `"guildhall up" itself, which only starts the others, is the former one until it is started again.`;

const options = { from: { type: "string" }, directory: { type: "string" }, yes: { type: "boolean" } } as const;
const { directory, from, yes } = parseCommandLine(usage, options);
const address = from?.replace(/\/$/, "") ?? releasesAddress(process.env);
await exitAfter(() => upgrade(resolve(directory || defaultInstances()), address, askUnless(yes)), canBeSolved);

type Ask = ReturnType<typeof askUnless>;

async function upgrade(directory: string, address: string | undefined, ask: Ask): Promise<number> {
	const present = process.execPath;
	if (!build) throw new InstallError("guildhall upgrade replaces an executable, but it runs from the sources here.");
	if (present.includes("/node_modules/"))
		throw new InstallError('npm installed this executable: update it with npm, and start "guildhall up" again.');
	for (const place of [directory, dirname(present)]) requireAccess(place);
	const system = openSystem();
	using _lock = lockSystem(system.isBooted && process.getuid?.() === 0 ? system : openSystem(dirname(present)));
	const scratch = join(dirname(present), ".guildhall-upgrade");
	const former = join(scratch, "former");
	const isResumed = existsSync(former) && !existsSync(join(scratch, "new"));
	if (isResumed)
		console.log(`An upgrade of ${statSync(former).ctime.toISOString()} was interrupted. This goes on with it.`);
	else {
		rmSync(scratch, { recursive: true, force: true });
		if (!(await prepare(scratch, directory, address, ask))) return 1;
		if (!existsSync(scratch)) return 0;
	}
	// Going back makes the executable a link to the former one.
	const resume = statSync(former).ino === statSync(present).ino ? "former" : "new";
	const backups = readlinkSync(join(scratch, "backups"));
	const instances = dirname(dirname(backups));
	const mover = startMover(scratch, present);
	becomeOwnerOf(instances);
	for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"] as const)
		process.on(signal, () => console.log("… finishing the upgrade first"));
	const result = await upgradePrograms({
		...{ resume: isResumed ? resume : undefined, backups, place: mover, write: console.log },
		ask: (request) => send(instances, request),
		async wait(attempt) {
			await Bun.sleep(1_000);
			return attempt >= healthySeconds;
		},
	});
	if (readdirSync(backups).length > 0) console.log(`Databases of before are in ${backups}.`);
	if (result === "mixed") throw new InstallError("Going back is not complete. Run guildhall upgrade again to go on.");
	const isNew = result === "new";
	if (isNew && dirname(present).endsWith("/bin")) await mover("docs");
	await mover("end");
	deleteOldBackups(dirname(backups));
	console.log(isNew ? `The new version runs. ${upIsFormer}` : "The former version runs again.");
	return isNew ? 0 : 1;
}

/** Puts "new", "former" and a link to the directory for the copies into `scratch`, unless there is nothing to do. */
async function prepare(scratch: string, directory: string, address: string | undefined, ask: Ask): Promise<boolean> {
	const present = process.execPath;
	if (!address) throw new InstallError("This release was not published: name the address of another with --from.");
	const wanted = await newestRelease(address).catch(({ message }) => {
		throw new InstallError(`Could not ask ${address}: ${message}`);
	});
	if (!isNewer(wanted)) {
		console.log(`guildhall ${version} is the newest release; nothing to do.`);
		return true;
	}
	// As the owner of the instances, which this process becomes only when it has written the executable.
	const asking = [present, "up", "status", "--json", "--directory", directory];
	const { stdout } = Bun.spawnSync(asking, { stderr: "inherit" });
	if (stdout.length === 0)
		throw new InstallError("Only programs that up runs are upgraded. install.sh replaces an executable alone.");
	console.log(`This replaces ${present}, ${version}, by ${wanted}, and restarts bots and gateway of ${directory}.`);
	const { programs }: UpStatus = JSON.parse(String(stdout));
	const remote = programs.filter(({ database }) => database === "PostgreSQL").map(({ name }) => name);
	if (remote.length > 0)
		console.log(
			`Back up PostgreSQL first (pg_dump). It has the databases of ${remote.join(", ")}, which are not copied.`,
		);
	if (!(await ask("Continue?"))) return false;
	console.log(`… fetch ${address}, and verify it`);
	const command = ["sh", "-s", "--", "--version", wanted, "--from", address, "--to", join(scratch, "bin")];
	const { success } = Bun.spawnSync(command, { stdin: Buffer.from(script), stdout: "ignore", stderr: "inherit" });
	if (!success) {
		rmSync(scratch, { recursive: true, force: true });
		const size = Math.ceil(statSync(present).size / 1e6);
		throw new InstallError(
			`Nothing was changed. About ${size} MB are needed in ${dirname(present)}, and ${2 * size} MB in ${tmpdir()}.`,
		);
	}
	symlinkSync(join(directory, `.backups/${version}-${Date.now()}`), join(scratch, "backups"));
	renameSync(join(scratch, "bin/guildhall"), join(scratch, "new"));
	linkSync(present, join(scratch, "former"));
	// `guildhall install` and `uninstall` take both files for their own.
	const record = new InstallRecord(openSystem());
	const hashes = ["new", "former"].flatMap((name) => hashFile(join(scratch, name)) ?? []);
	if (record.content.files[present]) record.setFile(present, hashes);
	return true;
}

function deleteOldBackups(directory: string): void {
	const time = (name: string) => Number(/-(\d+)$/.exec(name)?.[1] ?? 0);
	const all = readdirSync(directory).sort((a, b) => time(b) - time(a));
	for (const name of all.slice(keptBackups)) rmSync(join(directory, name), { recursive: true });
}

/** A process that keeps the right to replace the executable when this one has become the owner of the instances. */
function startMover(scratch: string, executable: string) {
	const loop = `trap "" INT HUP TERM
while read -r line; do eval "$line" && echo done || echo failed; done`;
	const commands = {
		new: 'mv -f "$0/new" "$1"',
		// Where install.sh puts them, and the gateway looks.
		docs: `to=$(dirname "$1")/../share/guildhall; mkdir -p "$to" && mv "$0/share/guildhall/docs" "$to/docs.new" && rm -rf "$to/docs" 2>/dev/null && mv "$to/docs.new" "$to/docs" || echo "Note: could not replace $to/docs" >&2`,
		// Links need no space.
		former: 'ln -f "$0/former" "$0/next" && mv -f "$0/next" "$1"',
		end: 'rm -rf "$0"',
	};
	const child = Bun.spawn(["sh", "-c", loop, scratch, executable], { stdin: "pipe", stdout: "pipe" });
	const results = child.stdout.getReader();
	return async (what: keyof typeof commands): Promise<void> => {
		child.stdin.write(`${commands[what]}\n`);
		await child.stdin.flush();
		const { value = new Uint8Array() } = await results.read();
		if (!Buffer.from(value).includes("done"))
			throw new InstallError("Could not put the files in their place. Run guildhall upgrade again to go on.");
	};
}
