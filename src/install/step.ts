// The steps of install and uninstall. One table of steps serves for showing the plan, carrying it out and undoing it.

/** The operator has to solve it; the message names the next step. */
export class InstallError extends Error {}

/** Each function examines the system again, so that a run after a kill continues. */
export interface Step {
	/** A line of the plan. */
	describe(): string;
	isDone(): boolean;
	apply(): void;
	/** A line of the plan; undefined if there is nothing to undo. */
	describeUndo(): string | undefined;
	undo(): void;
	/** About a step that is done, such as that a changed file is kept. */
	note?(): string | undefined;
}

export interface Plan {
	changes: string[];
	notes: string[];
}

export function planSteps(steps: readonly Step[]): Plan {
	return {
		changes: steps.flatMap((step) => (step.isDone() ? [] : [step.describe()])),
		notes: steps.flatMap((step) => step.note?.() ?? []),
	};
}

export function planUndo(steps: readonly Step[]): Plan {
	return { changes: steps.toReversed().flatMap((step) => step.describeUndo() ?? []), notes: [] };
}

/** Reports each step before it begins. Throws an InstallError that names the step that failed. */
export function applySteps(steps: readonly Step[], report: (line: string) => void): void {
	for (const step of steps) if (!step.isDone()) carryOut(step.describe(), step.apply, report);
}

/** The last one first. */
export function undoSteps(steps: readonly Step[], report: (line: string) => void): void {
	for (const step of steps.toReversed()) {
		const text = step.describeUndo();
		if (text !== undefined) carryOut(text, step.undo, report);
	}
}

function carryOut(text: string, act: () => void, report: (line: string) => void): void {
	report(text);
	try {
		act();
	} catch (error) {
		throw new InstallError(
			`Failed to ${text}: ${(error as Error).message}\nEarlier steps were not undone. Solve the problem, then run the command again to continue.`,
		);
	}
}
