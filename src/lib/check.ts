// Runs the checks of `--check` and prints a line for each, with the next step if it fails.

import { ConfigError } from "./config.ts";
import { type ListenOptions, listen } from "./listen.ts";
import type { Log } from "./log.ts";

/** A failed check, with a reason and a next step for the operator. */
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

/** What a passed check returns: a detail to print, nothing, or a warning. */
export type Found = string | undefined | { warning: string };

export interface Check {
	title: string;
	/** Checks earlier in the list that must pass first. If one fails, this check is skipped. */
	needs?: readonly Check[];
	/** Runs the check. Rejects with a CheckFailed if it fails. */
	run(): Found | Promise<Found>;
}

export interface CheckOptions {
	/** Receives internal errors of checks. */
	log: Log;
	write?: (line: string) => void;
	/** Texts that the output shows as "[secret]". */
	secrets?: readonly (string | undefined)[];
}

/** How the summary names each outcome. */
const outcomes = {
	passed: "passed",
	warned: "passed with a warning",
	failed: "failed",
	skipped: "skipped",
};

interface End {
	outcome: keyof typeof outcomes;
	/** The check whose failure made this one fail or be skipped. */
	culprit?: Check;
}

/** Shorter secrets are not hidden, since they could be part of any word. */
const minSecretLength = 6;

/** Runs the checks, concurrently where they do not need each other. Resolves with whether all passed. */
export async function runChecks(
	checks: readonly Check[],
	{ log, write = console.log, secrets = [] }: CheckOptions,
): Promise<boolean> {
	const hidden = secrets
		.filter((secret) => secret !== undefined)
		.filter(({ length }) => length >= minSecretLength);
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
				log.error("internal error in a check", { check: title, error });
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
			throw new TypeError(
				`"${check.title}" needs a check that is not before it in the list`,
			);
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

/** Whether an address to listen on is free or in use. Rejects with a CheckFailed if it cannot be used at all. */
export async function tryListening(
	options: Omit<ListenOptions, "fetch">,
): Promise<"free" | "in use"> {
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
