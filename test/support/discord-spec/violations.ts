// The violations that were found since they were last taken. Apart from the validation, which loads the document and the
// simulator: most test files need neither.

const found = new Map<string, number>();

export function addViolation(problem: string): void {
	found.set(problem, (found.get(problem) ?? 0) + 1);
}

/** The violations since the last call, with how often each occurred. */
export function takeViolations(): ReadonlyMap<string, number> {
	const taken = new Map(found);
	found.clear();
	return taken;
}
