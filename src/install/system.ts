// The system on which Guildhall is installed: this machine, or a directory with an image of a system.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { InstallError } from "./step.ts";

export type System = ReturnType<typeof openSystem>;

/** `image`: the path of an image, from --root; undefined for this machine. */
export function openSystem(image?: string) {
	return {
		image,
		/** systemd can start units. False for an image or a chroot. */
		isBooted: image === undefined && existsSync("/run/systemd/system"),
		/** From a path on the system to one on this machine. */
		at: (path: string) => (image === undefined ? path : join(image, path)),
		run: runCommand,
		/** On this machine. */
		has: (program: string) => Bun.which(program) !== null,
	};
}

/** On this machine. Returns the output, throws with it on failure. */
function runCommand(command: readonly string[]): string {
	const { success, stdout, stderr, exitCode } = Bun.spawnSync([...command], { stdin: "ignore" });
	if (success) return stdout.toString();
	const text = `${stderr}${stdout}`.trim().slice(-2_000);
	throw new Error(`"${command.join(" ")}" failed (exit code ${exitCode})${text && `: ${text}`}`);
}

/** Throws an InstallError, for example without root. */
export function checkSystem(
	system: System,
	program: "install" | "uninstall",
	{
		platform = process.platform as string,
		uid = process.getuid?.(),
	}: { platform?: string; uid?: number | undefined } = {},
): void {
	if (platform !== "linux")
		throw new InstallError(
			`guildhall ${program} needs Linux with systemd. docker/README.md describes containers; "guildhall up" needs neither.`,
		);
	if (system.image !== undefined) {
		if (existsSync(join(system.image, "etc"))) return;
		throw new InstallError(
			`${system.image} has no directory etc: expected the root directory of a system after --root.`,
		);
	}
	if (uid !== 0) throw new InstallError(`guildhall ${program} needs root: run it with sudo.`);
	if (!system.has("systemctl"))
		throw new InstallError(
			`guildhall ${program} needs systemd, and there is no systemctl here. "guildhall up" runs without it.`,
		);
}

export interface UserIds {
	uid: number;
	gid: number;
}

export function findUser(system: System, name: string): UserIds | undefined {
	const line =
		system.image === undefined && system.has("getent")
			? tryRun(system, ["getent", "passwd", name])
			: readText(system.at("/etc/passwd"))
					.split("\n")
					.find((entry) => entry.startsWith(`${name}:`));
	const [, , uid, gid] = (line ?? "").split(":");
	return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined;
}

/** Undefined if it fails. */
export function tryRun(system: System, command: readonly string[]): string | undefined {
	try {
		return system.run(command);
	} catch {
		return undefined;
	}
}

/** "" if it does not exist. */
export function readText(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
		throw error;
	}
}
