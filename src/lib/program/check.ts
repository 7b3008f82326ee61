// Runs the checks of `--check` and prints a line for each, with the next step if it fails.

import { ConfigError } from "../config.ts";
import type { Log } from "../log.ts";
import { type ListenOptions, listen } from "./listen.ts";

/** The message is the reason; `nextStep` tells the operator what to do. */
export class CheckFailed extends Error {
	override name = "CheckFailed";
	constructor(
		reason: string,
		readonly nextStep?: string,
		options?: ErrorOptions,
	) {
		super(reason, options);
	}
}

export type Found = string | undefined | { warning: string };

export interface Check {
	title: string;
	/** If one of them fails, this check is skipped. They must precede it in the list. */
	needs?: readonly Check[];
	/** Throws or rejects with a CheckFailed. */
	run(): Found | Promise<Found>;
}

export interface CheckOptions {
	log: Log;
	write?: (line: string) => void;
	/** Shown as "[secret]" in printed lines. */
	secrets?: readonly (string | undefined)[];
}

const outcomes = { passed: "passed", warned: "passed with a warning", failed: "failed", skipped: "skipped" };

interface End {
	outcome: keyof typeof outcomes;
	/** The check that failed: this one, or the one because of which it was skipped. */
	culprit?: Check;
}

/** Shorter secrets are not hidden, since any word could contain them. */
const minSecretLength = 6;

/** Runs checks concurrently, each after those that it needs, and prints them. Resolves with true if none failed. */
export async function runChecks(
	checks: readonly Check[],
	{ log, write = console.log, secrets = [] }: CheckOptions,
): Promise<boolean> {
	const hidden = secrets.filter((secret) => secret !== undefined).filter(({ length }) => length >= minSecretLength);
	// Error messages of other programs may quote a secret that we sent.
	const say = (mark: string, text: string) =>
		write(
			`${mark} ${hidden
				.reduce((shown, secret) => shown.replaceAll(secret, "[secret]"), text)
				.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")}`,
		);

	async function run(check: Check, needs: readonly Promise<End>[]) {
		const { title } = check;
		for (const { culprit } of await Promise.all(needs))
			if (culprit) {
				say("–", `${title}: skipped, because "${culprit.title}" failed`);
				return { outcome: "skipped", culprit } as const;
			}
		try {
			// Through a promise, so that checks which end at once are printed in their order, failures included.
			const found = await Promise.resolve().then(() => check.run());
			if (typeof found === "object") {
				say("!", `${title}: ${found.warning}`);
				return { outcome: "warned" } as const;
			}
			say("✓", found === undefined ? title : `${title}: ${found}`);
			return { outcome: "passed" } as const;
		} catch (error) {
			const expected = error instanceof CheckFailed;
			if (!expected) log.error("could not complete a setup check: internal error", { check: title, error });
			say("✗", `${title}: ${expected ? error.message : "internal error"}`);
			if (expected && error.nextStep) say("   ", error.nextStep);
			return { outcome: "failed", culprit: check } as const;
		}
	}

	const begun = new Map<Check, Promise<End>>();
	for (const check of checks) {
		const needs = (check.needs ?? []).map((needed) => {
			const end = begun.get(needed);
			if (end) return end;
			throw new TypeError(`the check "${check.title}" depends on a check that does not come before it`);
		});
		begun.set(check, run(check, needs));
	}
	const ends = await Promise.all(begun.values());
	const counts = Object.entries(outcomes).flatMap(([outcome, words]) => {
		const { length } = ends.filter((end) => end.outcome === outcome);
		return outcome === "passed" || length > 0 ? [`${length} ${words}`] : [];
	});
	write(counts.join(", "));
	return ends.every(({ culprit }) => culprit === undefined);
}

/** "in use" if a program listens there. Rejects with a CheckFailed for any other failure. */
export async function tryListening(options: Omit<ListenOptions, "fetch">): Promise<"free" | "in use"> {
	try {
		await listen({ ...options, fetch: () => new Response(null, { status: 503 }) }).close(0);
		return "free";
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error;
		const issue = error.issues.join("; ");
		if (issue.includes(" is already in use: ")) return "in use";
		throw new CheckFailed(issue);
	}
}
