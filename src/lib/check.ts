// A list of checks for an operator: a line for each as soon as it is known, with the next step where one fails.

import { ConfigError } from "./config.ts";
import { type ListenOptions, listen } from "./listen.ts";
import type { Log } from "./log.ts";

/** What is not as it has to be, in words for the operator; `nextStep` says what to do about it. */
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

/** What a check that passed found: a detail, nothing worth saying, or what works and is unwise all the same. */
export type Found = string | undefined | { warning: string };

export interface Check {
	title: string;
	/** Checks before it in the list: it begins when they have passed, and is skipped where one has not. */
	needs?: readonly Check[];
	/** Rejects with a CheckFailed. */
	run(): Found | Promise<Found>;
}

export interface CheckOptions {
	/** For faults of ours. */
	log: Log;
	/** Is given one line at a time. */
	write?: (line: string) => void;
	/** What must not be shown, whoever says it. */
	secrets?: readonly (string | undefined)[];
}

const outcomes = ["passed", "warned", "failed", "skipped"] as const;

interface End {
	outcome: (typeof outcomes)[number];
	/** The check that stands in the way of those that need this one. */
	culprit?: Check;
}

/** What is shorter could be a part of any word. */
const minSecretLength = 6;

/** Runs the checks, at the same time where none needs another. Resolves with whether all have passed. */
export async function runChecks(
	checks: readonly Check[],
	{ log, write = console.log, secrets = [] }: CheckOptions,
): Promise<boolean> {
	const hidden = secrets
		.filter((secret) => secret !== undefined)
		.filter(({ length }) => length >= minSecretLength);
	// Some of the words may be somebody else's, and quote what we sent.
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
			// What is known at once is told in the order of the list, also where it is an issue.
			const found = await Promise.resolve().then(() => check.run());
			if (typeof found === "object") {
				say("!", `${title}: ${found.warning}`);
				return { outcome: "warned" } as const;
			}
			say("✓", found === undefined ? title : `${title}: ${found}`);
			return { outcome: "passed" } as const;
		} catch (error) {
			const expected = error instanceof CheckFailed;
			if (!expected) log.error(`the check "${title}" broke`, { error });
			say("✗", `${title}: ${expected ? error.message : "a fault of ours"}`);
			if (expected && error.nextStep) say("   ", error.nextStep);
			return { outcome: "failed", culprit: check } as const;
		}
	}

	const begun = new Map<Check, Promise<End>>();
	for (const check of checks) {
		const needs = (check.needs ?? []).map((needed) => {
			const end = begun.get(needed);
			if (end) return end;
			throw new TypeError(`"${check.title}" needs what comes later or never`);
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

/** Whether there is an address to listen on: nobody has it, or somebody does. Rejects with a CheckFailed where it cannot be had at all. */
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
