// What has to be set back in a guild: each field of a thing that someone changed, before and after the changes.

import type { Refusal, StepKind } from "./steps.ts";

export interface RestoreItem {
	kind: StepKind;
	/** Of an invite its code. Of what was deleted, the old id. */
	id: string;
	name: string;
	/**
	 * By the field's name in Discord's API, with its values there, and "exists", "role:ID" of a member, and of a channel
	 * "allow:TYPE:ID" and "deny:TYPE:ID", which are null without an overwrite.
	 */
	fields: Readonly<Record<string, RestoredField>>;
}

export interface RestoredField {
	before: unknown;
	after: unknown;
	/** Ids of the audit log entries and of the bot's calls that changed it, the newest first. */
	entries: readonly string[];
	/** Who else decided about it later. */
	since?: string | undefined;
	/** Why it cannot be set back. */
	impossible?: string | undefined;
}

export interface Restore {
	/** In the order of the steps: what was changed last is first. */
	items: readonly RestoreItem[];
	impossible: readonly Refusal[];
	/** Ids of entries and calls of which something is in `impossible`. */
	kept: readonly string[];
	/** Ids of the accounts that did it, which get nothing back. */
	actors: readonly string[];
	/** Also delete what was created, except webhooks and invites, which are always deleted. */
	deleteCreated: boolean;
	/** Also fields that have been changed since. */
	overwriteChanges: boolean;
	/** Lines about the plan as a whole. */
	remarks: readonly string[];
}
