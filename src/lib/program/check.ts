// Runs the checks of `--check` and prints a line for each, with the next step if it fails.

import { ConfigError } from "../config.ts";
import type { Log } from "../log.ts";
import { type ListenOptions, listen } from "./listen.ts";

/**
 * Thrown when a check of the `--check` option fails. The message is the reason; `nextStep` tells the operator what to
 * do.
 */
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

/** What a check of the `--check` option returns when it passes: a warning or a detail to print, or undefined. */
export type Found = string | undefined | { warning: string };

export interface Check {
	title: string;
	/**
	 * Checks that must pass before this check runs; if one of them fails, this check is skipped. They must precede this
	 * check in the list that is passed to `runChecks`.
	 */
	needs?: readonly Check[];
	/** Runs the check. Throws or rejects with a CheckFailed if the check fails. */
	run(): Found | Promise<Found>;
}

export interface CheckOptions {
	/** Log for errors that a check throws other than a CheckFailed. */
	log: Log;
	write?: (line: string) => void;
	/** Secrets such as tokens. Printed lines show "[secret]" in place of each of them. */
	secrets?: readonly (string | undefined)[];
}

const outcomes = {
	passed: "passed",
	warned: "passed with a warning",
	failed: "failed",
	skipped: "skipped",
};

interface End {
	outcome: keyof typeof outcomes;
	/**
	 * The check that failed: this check or, if this check was skipped, the check because of which it was skipped.
	 * Undefined if this check passed.
	 */
	culprit?: Check;
}

/** Secrets with fewer characters than this are not hidden in printed lines, since any word could contain them. */
const minSecretLength = 6;

/**
 * Runs checks concurrently, except that each waits for the checks that it needs. Prints a line for each check and a
 * summary. Resolves with true if no check failed.
 */
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
			if (!expected)
				log.error("could not complete a setup check: internal error", {
					check: title,
					error,
				});
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

/**
 * Tests whether a server could listen on a hostname and port. Resolves with "free", or with "in use" if a program
 * listens there already. Rejects with a CheckFailed for any other failure.
 */
export async function tryListening(options: Omit<ListenOptions, "fetch">): Promise<"free" | "in use"> {
	try {
		const fetch = () => new Response(null, { status: 503 });
		await listen({ ...options, fetch }).close(0);
		return "free";
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error;
		const issue = error.issues.join("; ");
		if (issue.includes(" is already in use: ")) return "in use";
		throw new CheckFailed(issue);
	}
}
