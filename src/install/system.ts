// The system on which Guildhall is installed: this machine, or a directory with an image of a system.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { InstallError } from "./step.ts";

/** A system, and access to its files and commands. */
export interface System {
	/** Path of the directory with the image; undefined for this machine. */
	image: string | undefined;
	/** Whether systemd runs on the system, so that units can be started. False for an image or a chroot. */
	isBooted: boolean;
	/** Returns the path on this machine of a file with this absolute path on the system. */
	at(path: string): string;
	/** Runs a command on this machine. Returns what it prints. Throws an error with its output if it fails. */
	run(command: readonly string[]): string;
	/** Whether a command of this name is installed on this machine. */
	has(program: string): boolean;
}

/** Returns the system that the option --root names, or this machine. */
export function openSystem(image?: string): System {
	return {
		image,
		isBooted: image === undefined && existsSync("/run/systemd/system"),
		at: (path) => (image === undefined ? path : join(image, path)),
		run: runCommand,
		has: (program) => Bun.which(program) !== null,
	};
}

function runCommand(command: readonly string[]): string {
	const { success, stdout, stderr, exitCode } = Bun.spawnSync([...command], {
		stdin: "ignore",
	});
	if (success) return stdout.toString();
	const text = `${stderr}${stdout}`.trim().slice(-2_000);
	throw new Error(`"${command.join(" ")}" failed (exit code ${exitCode})${text && `: ${text}`}`);
}

/** Throws an InstallError if the system or this process does not meet the requirements, such as root. */
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

/** User id and group id of a user. */
export interface UserIds {
	uid: number;
	gid: number;
}

/** Returns the user id and group id of a user of the system; undefined if there is no such user. */
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

/** Runs a command; returns its output, or undefined if it fails. */
export function tryRun(system: System, command: readonly string[]): string | undefined {
	try {
		return system.run(command);
	} catch {
		return undefined;
	}
}

/** Returns the text of a file; "" if it does not exist. */
export function readText(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
		throw error;
	}
}
