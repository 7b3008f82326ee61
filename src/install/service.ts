// Installation steps for the executable, the systemd unit, the kernel setting and the running service.

import { cpSync, lstatSync, mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import unit from "../../docker/systemd/guildhall.service" with { type: "text" };
import { installedExecutable } from "../lib/program/instances.ts";
import { fileStep, hashFile } from "./files.ts";
import type { InstallRecord } from "./record.ts";
import type { Step } from "./step.ts";
import { readText, type System, tryRun } from "./system.ts";

const docsPath = "/usr/local/share/guildhall/docs";
/** Runs `guildhall up`. */
const unitName = "guildhall.service";
const unitPath = `/etc/systemd/system/${unitName}`;
const linkPath = `/etc/systemd/system/multi-user.target.wants/${unitName}`;
const sysctlPath = "/etc/sysctl.d/60-guildhall.conf";
const migrateReqPath = "/proc/sys/net/ipv4/tcp_migrate_req";

/** https://docs.kernel.org/networking/ip-sysctl.html */
const sysctl = `# When "guildhall up" replaces the gateway, two processes listen on one port for a moment. With this, connections that wait
# for the one that ends move to the other, and none is refused. The "-" ignores kernels before 5.14, which lack it.
-net.ipv4.tcp_migrate_req = 1
`;

export function executableStep(system: System, record: InstallRecord, executable: string): Step {
	return fileStep(system, record, {
		path: installedExecutable,
		title: "the executable of all programs",
		mode: 0o755,
		content: { copyOf: executable },
		pending: "restart",
	});
}

/** The documentation, which a release has beside its executable. */
export function docsStep(system: System, executable: string): Step {
	const [source, target] = [join(dirname(executable), "docs"), system.at(docsPath)];
	const releaseOf = (path: string) => hashFile(join(path, "CHANGELOG.md"));
	return {
		describe: () => `write ${docsPath}, which the gateway serves at /docs`,
		isDone: () => [undefined, releaseOf(target)].includes(releaseOf(source)),
		apply() {
			rmSync(target, { recursive: true, force: true });
			cpSync(source, `${target}.new`, { recursive: true });
			renameSync(`${target}.new`, target);
		},
		describeUndo: () => releaseOf(target) && `remove ${docsPath}`,
		undo: () => rmSync(target, { recursive: true }),
	};
}

/** For net.ipv4.tcp_migrate_req: the file for later starts, and the running kernel. */
export function sysctlSteps(system: System, record: InstallRecord): Step[] {
	const path = system.at(migrateReqPath);
	const value = () => readText(path).trim();
	const set = (text: string) => writeFileSync(path, text);
	const file = fileStep(system, record, {
		path: sysctlPath,
		title: "so that replacing the gateway refuses no connection",
		mode: 0o644,
		content: { text: sysctl },
	});
	const now: Step = {
		describe: () => "set net.ipv4.tcp_migrate_req = 1 in the running kernel",
		isDone: () => !system.isBooted || value() !== "0",
		apply() {
			record.set({ migrateReq: "0" });
			set("1");
		},
		describeUndo: () =>
			system.isBooted && record.content.migrateReq === "0" && value() === "1"
				? "set net.ipv4.tcp_migrate_req = 0 in the running kernel"
				: undefined,
		undo() {
			set("0");
			record.set({ migrateReq: undefined });
		},
	};
	return [file, now];
}

/** The file, and the link that starts the unit with the machine. */
export function unitSteps(system: System, record: InstallRecord): Step[] {
	const reload = () => {
		if (system.isBooted) system.run(["systemctl", "daemon-reload"]);
	};
	const file = fileStep(system, record, {
		path: unitPath,
		title: `the unit that runs "guildhall up"`,
		mode: 0o644,
		content: { text: unit },
		pending: "restart",
		afterUndo: reload,
	});
	const target = system.at(linkPath);
	const exists = () => lstatSync(target, { throwIfNoEntry: false });
	const link: Step = {
		describe: () => `start ${unitName} with the machine`,
		isDone: () => exists()?.isSymbolicLink() === true && readlinkSync(target) === unitPath,
		apply() {
			mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
			rmSync(target, { force: true });
			symlinkSync(unitPath, target);
		},
		describeUndo: () => (exists() ? `no longer start ${unitName} with the machine` : undefined),
		undo() {
			rmSync(target, { force: true });
		},
	};
	return [file, link];
}

/** Restarts the service if its files were replaced. */
export function serviceStep(system: System, record: InstallRecord): Step {
	const isActive = () => tryRun(system, ["systemctl", "is-active", unitName]) !== undefined;
	const isPending = () => record.content.pending.includes("restart");
	return {
		describe: () => (isActive() ? `restart ${unitName}, with all bots and the gateway` : `start ${unitName}`),
		isDone: () => !system.isBooted || (isActive() && !isPending()),
		note: () => (system.isBooted ? undefined : `systemd does not run here: ${unitName} starts with the machine`),
		apply() {
			system.run(["systemctl", "daemon-reload"]);
			// Without this, systemd refuses the start if the service has failed too often before.
			tryRun(system, ["systemctl", "reset-failed", unitName]);
			system.run(["systemctl", "restart", unitName]);
			record.setPending("restart", false);
		},
		describeUndo: () => (system.isBooted && isActive() ? `stop ${unitName}` : undefined),
		undo() {
			system.run(["systemctl", "stop", unitName]);
		},
	};
}
