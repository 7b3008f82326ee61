// `guildhall install` and `guildhall uninstall`: show the plan, ask, and carry it out.

import { existsSync } from "node:fs";
import { ConfigError } from "../lib/config.ts";
import { installedInstances } from "../lib/program/instances.ts";
import { version } from "../lib/program/program.ts";
import { directoryStep, recordStep, userSteps } from "./account.ts";
import { checkCaddy, domainSteps, parseDomain } from "./caddy.ts";
import { InstallRecord } from "./record.ts";
import { docsStep, executableStep, serviceStep, sysctlSteps, unitSteps } from "./service.ts";
import { applySteps, InstallError, type Plan, planSteps, planUndo, type Step, undoSteps } from "./step.ts";
import type { System } from "./system.ts";

interface InstallOptions {
	/** To copy. */
	executable: string;
	/** Of the site in Caddy. Default: that of the last installation. */
	domain?: string | undefined;
}

interface UninstallOptions {
	deleteData: boolean;
}

export interface Operator {
	write(line: string): void;
	/** Yes or no. */
	ask(question: string): Promise<boolean>;
}

const otherUnit = "/etc/systemd/system/guildhall-gateway.service";

function allSteps(
	system: System,
	record: InstallRecord,
	options: { executable: string; domain: string | undefined; deletesData: boolean },
): Step[] {
	const { executable, domain, deletesData } = options;
	return [
		recordStep(system, record, deletesData),
		...userSteps(system, record, deletesData),
		directoryStep(system, deletesData),
		executableStep(system, record, executable),
		docsStep(system, executable),
		...sysctlSteps(system, record),
		...unitSteps(system, record),
		...(domain === undefined ? [] : domainSteps(system, record, domain)),
		serviceStep(system, record),
	];
}

/** Also upgrades. Resolves with the exit code. InstallError if a requirement is missing or a step fails. */
export async function install(
	system: System,
	{ executable, domain: named }: InstallOptions,
	operator: Operator,
): Promise<number> {
	const record = new InstallRecord(system);
	const domain = named === undefined ? record.content.domain : parseDomain(named);
	if (domain !== undefined) checkCaddy(system);
	const steps = allSteps(system, record, { executable, domain, deletesData: false });
	const plan = planSteps(steps);
	if (plan.changes.length === 0) {
		operator.write(`guildhall ${version} is installed; nothing to do.`);
		for (const note of plan.notes) operator.write(`Note: ${note}.`);
		return 0;
	}
	if (existsSync(system.at(otherUnit)))
		plan.notes.push(
			"guildhall-gateway.service is installed as well, and both use port 9100: run systemctl disable --now guildhall-gateway first",
		);
	showPlan(`guildhall install ${version} will`, plan, operator);
	if (!(await operator.ask("Continue?"))) return refused(operator);
	applySteps(steps, (text) => operator.write(`… ${text}`));
	for (const line of nextSteps(domain, system)) operator.write(line);
	return 0;
}

/** Resolves with the exit code. InstallError if a step fails. */
export async function uninstall(system: System, { deleteData }: UninstallOptions, operator: Operator): Promise<number> {
	const record = new InstallRecord(system);
	if (!record.exists) {
		operator.write("guildhall is not installed here; nothing to do.");
		return 0;
	}
	const steps = allSteps(system, record, {
		executable: process.execPath,
		domain: record.content.domain,
		deletesData: deleteData,
	});
	const plan = planUndo(steps);
	if (plan.changes.length > 0) {
		showPlan("guildhall uninstall will", plan, operator);
		if (!(await operator.ask("Continue?"))) return refused(operator);
		const lost = `Delete all instances in ${installedInstances}, with their tokens and stored data? This cannot be undone.`;
		if (deleteData && !(await operator.ask(lost))) return refused(operator);
		undoSteps(steps, (text) => operator.write(`… ${text}`));
	}
	operator.write(
		deleteData
			? "Guildhall is uninstalled, and its data is deleted."
			: `Guildhall is uninstalled. ${installedInstances} and its user are kept. To delete them too, run "guildhall uninstall --delete-data" with the executable of a release.`,
	);
	return 0;
}

function showPlan(title: string, { changes, notes }: Plan, { write }: Operator): void {
	write(`${title}:`);
	for (const change of changes) write(`  - ${change}`);
	for (const note of notes) write(`Note: ${note}.`);
	write("");
}

function refused({ write }: Operator): number {
	write("Nothing was changed.");
	return 1;
}

function nextSteps(domain: string | undefined, system: System): string[] {
	if (system.image !== undefined) return [`Installed in ${system.image}.`];
	const url = domain ? `https://${domain}` : "http://127.0.0.1:9100";
	const sudo = process.env.SUDO_USER ? "sudo " : "";
	return [
		"",
		"Installed. Create a bot, which starts at once, and check all programs:",
		`  ${sudo}guildhall new-instance alpha`,
		`  ${sudo}guildhall check`,
		`The MCP endpoint is ${url}/mcp and the console is ${url}/console. This command shows the token for both:`,
		`  ${sudo}sed -n 's/^MCP_AUTH_TOKEN=//p' ${installedInstances}/gateway.env`,
	];
}

/** By the operator; otherwise an error is internal. */
export function canBeSolved(error: unknown): boolean {
	return error instanceof InstallError || error instanceof ConfigError || Object(error).code !== undefined;
}
