// Texts about what of a document is not in the guild that was made from it.

import type { Step } from "../../guild-document/steps.ts";
import type { Reply } from "./read-state.ts";

/** Says why a step was not carried out, or had no effect. */
export function describeLeft(
	step: Step,
	refused: ReadonlyMap<string, string>,
	ids: ReadonlyMap<string, string>,
): string {
	const { action, kind, name, needs, changes, id } = step;
	const subject = `${action} ${kind} ${name}`;
	const reason = refused.get(id);
	if (reason !== undefined) return `${subject}: refused, ${reason}`;
	const missing = needs.filter((need) => !ids.has(need));
	if (missing.length > 0) return `${subject}: needs ${missing.map((one) => one.slice(1)).join(", ")}`;
	return `${subject}: the simulator keeps ${changes.map(({ field, before = "none" }) => `${field} ${before}`).join(", ")}`;
}

export function describeError({ status, body }: Reply): string {
	const { message = `status ${status}`, errors } = (body ?? {}) as { message?: string; errors?: object };
	return [message, ...fieldErrors(errors ?? {})].join("; ");
}

function fieldErrors(tree: object, path: readonly string[] = []): string[] {
	return Object.entries(tree).flatMap(([key, value]) =>
		key === "_errors"
			? (value as { message: string }[]).map(({ message }) => `${path.join(".")}: ${message}`)
			: fieldErrors(value, [...path, key]),
	);
}
