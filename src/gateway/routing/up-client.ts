// The `up` that runs this gateway and the bots: what it knows of their processes, and commands to it.

import {
	type ControlRequest,
	type ControlResponse,
	type ProgramStatus,
	sendCommand,
} from "../../lib/instances/control.ts";
import { isNewer, runs } from "../../lib/program/program.ts";
import { onOneLine } from "../../lib/text.ts";
import { singleFlight } from "../../lib/wait.ts";
import type { Backend } from "../backends/backend.ts";
import type { ProcessReport } from "../backends/backend-health.ts";

const timeoutMs = 2_000;
const maxDetails = 300;

export class UpClient {
	/** A release that is newer than this gateway. */
	newer: string | undefined;
	/** Never rejects. */
	readonly update = singleFlight(() => this.#update());

	/** `socket`: the path of its control socket. */
	constructor(
		private readonly socket: string,
		private readonly backends: readonly Pick<Backend, "name" | "state" | "setProcess">[],
	) {}

	/** Calls to a bot that is away wait for it. If it was stopped on purpose, they must not. */
	noteChange(): void {
		if (this.backends.some(({ state }) => state.away)) void this.update();
	}

	/** Rejects if `up` does not answer in time. */
	async command(request: ControlRequest, maxMs: number): Promise<ControlResponse> {
		const response = await sendCommand(this.socket, request, maxMs);
		await this.update();
		return response;
	}

	async #update(): Promise<void> {
		const response = await sendCommand(this.socket, { command: "status" }, timeoutMs).catch(() => undefined);
		const { programs = [], newer = "" } = response && "status" in response ? response.status : {};
		this.newer = isNewer(newer) ? newer : undefined;
		const byName = new Map(programs.map((program) => [program.name, program]));
		for (const backend of this.backends) backend.setProcess(reportOf(byName.get(backend.name)));
	}
}

function reportOf(program: ProgramStatus | undefined): ProcessReport {
	if (!program) return {};
	const { name, isHalted, issue, reason: endReason } = program;
	if (isHalted)
		return { halted: "stopped", reason: `it was stopped on purpose; ${runs("up")} start ${name} starts it` };
	if (issue !== undefined)
		return {
			halted: "cannot start",
			reason: `it cannot start; ${runs("up")} status says why`,
			// Without the lines that point to a place in a file.
			details: onOneLine(`it cannot start: ${issue.replaceAll(/^ *(\d+:|\^).*\n?/gm, "")}`, maxDetails),
		};
	return endReason === undefined ? {} : { details: `it ended and is started again: ${endReason}` };
}
