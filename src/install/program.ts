// Command lines of `guildhall install` and `guildhall uninstall`.

import { askOnTerminal } from "../lib/program/ask.ts";
import { build, exitAfter, parseCommandLine } from "../lib/program/program.ts";
import { canBeSolved, install, type Operator, uninstall } from "./install.ts";
import { lockSystem } from "./lock.ts";
import { InstallError } from "./step.ts";
import { checkSystem, openSystem, type System } from "./system.ts";

const installUsage = `Usage: guildhall install [--domain <domain>] [--root <directory>] [--yes] [--help]

Installs this executable on Linux with systemd, as root: the user guildhall, a directory for the instances, and a unit that
runs "guildhall up". Shows what it will do, and asks. To upgrade, run it with the new version.

  --domain  also publish the gateway with TLS at this domain; Caddy must be installed
  --root    install into the image of a system in this directory; starts nothing
  --yes     do not ask`;

const uninstallUsage = `Usage: guildhall uninstall [--delete-data] [--root <directory>] [--yes] [--help]

Removes what "guildhall install" made, except the instances and their user. Shows what it will do, and asks.

  --delete-data  also delete the instances, with their tokens and stored data, and the user
  --root         uninstall from the image of a system in this directory
  --yes          do not ask`;

const common = { root: { type: "string" }, yes: { type: "boolean" } } as const;

export function installProgram(): Promise<never> {
	const values = parseCommandLine(installUsage, { domain: { type: "string" }, ...common });
	return run("install", values, (system, operator) => {
		if (!build)
			throw new InstallError(
				'guildhall install copies its own executable, but it runs from the sources here: run "bun run build", then dist/guildhall install.',
			);
		return install(system, { executable: process.execPath, domain: values.domain }, operator);
	});
}

export function uninstallProgram(): Promise<never> {
	const values = parseCommandLine(uninstallUsage, { "delete-data": { type: "boolean" }, ...common });
	return run("uninstall", values, (system, operator) =>
		uninstall(system, { deleteData: values["delete-data"] ?? false }, operator),
	);
}

async function run(
	program: "install" | "uninstall",
	{ yes, root }: { yes?: boolean | undefined; root?: string | undefined },
	work: (system: System, operator: Operator) => Promise<number>,
): Promise<never> {
	return exitAfter(async () => {
		if (root === "") throw new InstallError("Expected a directory after --root.");
		const system = openSystem(root);
		checkSystem(system, program);
		using _lock = lockSystem(system);
		return await work(system, { write: console.log, ask: askUnless(yes) });
	}, canBeSolved);
}

export function askUnless(yes: boolean | undefined): Operator["ask"] {
	return async (question) => {
		if (yes) return true;
		if (!process.stdin.isTTY)
			throw new InstallError(
				"stdin is not a terminal, so the plan cannot be confirmed: pass --yes. Nothing was changed.",
			);
		return askOnTerminal(question);
	};
}
