// Runs the checks of `--check` and prints a line for each, with the next step if it fails.

import { ConfigError } from "./config.ts";
import { type ListenOptions, listen } from "./listen.ts";
import type { Log } from "./log.ts";

/** A failed check. `reason` and `nextStep` are for the operator. */
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

/** The result of a passed check: a detail, nothing, or a warning. */
export type Found = string | undefined | { warning: string };

export interface Check {
	title: string;
	/** Earlier checks in the list: this one starts when they have passed, and is skipped if one has not. */
	needs?: readonly Check[];
	/** Rejects with a CheckFailed. */
	run(): Found | Promise<Found>;
}

export interface CheckOptions {
	/** For internal errors. */
	log: Log;
	/** Receives one line at a time. */
	write?: (line: string) => void;
	/** Replaced by "[secret]" in all output. */
	secrets?: readonly (string | undefined)[];
}

const outcomes = ["passed", "warned", "failed", "skipped"] as const;

interface End {
	outcome: (typeof outcomes)[number];
	/** The failed check that blocks dependent checks. */
	culprit?: Check;
}

/** Shorter secrets could be part of any word. */
const minSecretLength = 6;

/** Runs the checks, concurrently if independent. Resolves with whether all passed. */
export async function runChecks(
	checks: readonly Check[],
	{ log, write = console.log, secrets = [] }: CheckOptions,
): Promise<boolean> {
	const hidden = secrets
		.filter((secret) => secret !== undefined)
		.filter(({ length }) => length >= minSecretLength);
	// Errors of others may quote what we sent.
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
			// Keeps the order of the list for checks that end synchronously, failures included.
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
				log.error("check failed unexpectedly", { check: title, error });
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
	const counts = outcomes
		.map((outcome) => ({
			outcome,
			count: ends.filter((end) => end.outcome === outcome).length,
		}))
		.filter(({ outcome, count }) => outcome === "passed" || count > 0)
		.map(({ outcome, count }) => `${count} ${words[outcome]}`);
	write(counts.join(", "));
	return ends.every(({ culprit }) => culprit === undefined);
}

const words = {
	passed: "passed",
	warned: "passed with a warning",
	failed: "failed",
	skipped: "skipped",
};

/** Whether the address is free or in use. Rejects with a CheckFailed if it cannot be used at all. */
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
