// Rules that decide the next change of each setting in raid mode, from its stored state and its current value on
// Discord. Does not send or store anything.
// https://docs.discord.com/developers/resources/guild#modify-guild-incident-actions
// https://docs.discord.com/developers/resources/guild#guild-object-verification-level
// https://docs.discord.com/developers/resources/channel#modify-channel

import { GuildVerificationLevel } from "discord.js";
import { type Said, said } from "../../../texts/texts.ts";
import type { RaidMode, RaidStep, RaidStepState } from "../../store/tables/raid-modes.ts";

const hourMs = 3_600_000;
/** In milliseconds. Discord allows 24 hours by its own clock, which may be behind the bot's. */
const pauseMs = 23 * hourMs;
/** In milliseconds. A pause with less time left is renewed, so that it outlasts a long outage of the bot. */
const renewMs = 12 * hourMs;

/** Members must have been in the guild for more than 10 minutes. */
const raidLevel = GuildVerificationLevel.High;

/** By `RaidStep.thing`. */
export type Settings = ReadonlyMap<string, number>;

/** `send`: the value for Discord once the step is stored. */
export interface Move {
	step: RaidStep;
	send?: number;
}

/** As a `RaidStep.note`. */
export type Refusal = (thing: string) => string | undefined;

export const isChannel = (thing: string) => /^\d/.test(thing);

function isRenewalDue(until: number, now: number): boolean {
	// `until` may be far ahead of the bot's clock if that was set back. A renewal would then shorten the pause.
	return until - now < renewMs;
}

export function renewalInMs(until: number, now: number): number {
	return isRenewalDue(until, now) ? 0 : until - now - renewMs;
}

function wantedValue(thing: string, mode: RaidMode, now: number): number {
	if (thing === "verification") return raidLevel;
	if (isChannel(thing)) return mode.slowmode;
	return Math.floor((now + pauseMs) / 1000) * 1000;
}

export function formerValue({ thing, value_before }: RaidStep, now: number): number {
	const value = value_before ?? 0;
	// The previous pause of invites may have ended in the meantime.
	return thing === "invites" && value <= now ? 0 : value;
}

const isOver: readonly RaidStepState[] = ["kept", "changed", "gone", "restored"];

function mayBeOurs({ state, value_asked }: RaidStep): boolean {
	return value_asked !== null && !isOver.includes(state);
}

function isOurs(step: RaidStep, value: number, now: number): boolean {
	const { thing, value_asked, value_set } = step;
	const hasEnded = thing === "invites" && value === 0 && (value_asked ?? Infinity) <= now;
	return value === value_asked || value === value_set || hasEnded;
}

/** The pause of invites has been made: the next request renews it. */
function isRenewal({ thing, value_set }: RaidStep): boolean {
	return thing === "invites" && value_set !== null;
}

/** The pause of invites is still active but could not be renewed. */
export function isUnrenewed(step: RaidStep): boolean {
	return isRenewal(step) && step.state === "set" && step.note !== null;
}

/** All except a failed renewal of the pause of invites that had failed before. */
export function newsOf(moves: readonly Move[], steps: readonly RaidStep[]): RaidStep[] {
	const failedBefore = moves.some(({ step }) => step.thing === "invites" && step.note !== null);
	return steps.filter((step) => !failedBefore || !isUnrenewed(step));
}

/** Why the setting of a channel that the bot has lost sight of is not changed. */
export const unseen = noteOf(said("raid.why.unseen"));

/** A message as `RaidStep.note`. `people`: what they read instead. */
export function noteOf(why: Said, people?: Said): string {
	return JSON.stringify({ ...why, people });
}

export function keyOf({ guild_id, thing }: RaidStep): string {
	return `${guild_id} ${thing}`;
}

interface Known {
	mode: RaidMode;
	thing: string;
	step: RaidStep | undefined;
	/** Undefined for a deleted channel. */
	value: number | undefined;
	refusal: Refusal;
	now: number;
}

/** Undefined if this run does not have to change it. */
export function nextMove(known: Known): Move | undefined {
	return known.mode.wanted === "on" ? moveOn(known) : moveOff(known);
}

function moveOn(known: Known): Move | undefined {
	const { mode, thing, step, value, now } = known;
	if (value === undefined) return undefined;
	if (!step) return begin(known, value);
	const isOfThisRun = step.run === mode.run;
	const isSettled = isOver.includes(step.state) || step.state === "failed";
	if (isOfThisRun && isSettled) return undefined;
	// A failed renewal is retried after all other settings were processed.
	if (isOfThisRun && isUnrenewed(step) && mode.ended_at === null) return undefined;
	if (!mayBeOurs(step)) return begin(known, value);
	const isGood =
		thing === "invites"
			? !isUnrenewed(step) && !isRenewalDue(step.value_asked ?? 0, now)
			: step.value_asked === wantedValue(thing, mode, now);
	if (step.state === "set" && isGood) return undefined;
	if (value === step.value_asked && isGood) return { step: confirmed({ ...step, run: mode.run, state: "asked" }) };
	if (isOurs(step, value, now)) {
		const value_set = value === step.value_asked ? step.value_asked : step.value_set;
		return ask(known, { ...step, value_set });
	}
	const wasSet = step.state !== "restoring" && step.value_set !== null;
	return wasSet
		? { step: changed(step, mode, value) }
		: // The requested change was never executed, or somebody changed the setting before its outcome was known.
			begin(known, value);
}

function begin(known: Known, value: number): Move {
	const { mode, thing, refusal } = known;
	const step: RaidStep = {
		guild_id: mode.guild_id,
		thing,
		run: mode.run,
		state: "kept",
		value_before: null,
		value_asked: null,
		value_set: null,
		note: null,
	};
	// A pause of invites by somebody else always counts as too short, because it would end while raid mode is on.
	if (thing !== "invites" && value >= wantedValue(thing, mode, 0)) return { step };
	const note = refusal(thing);
	if (note !== undefined) return { step: { ...step, state: "failed", note } };
	return ask(known, { ...step, value_before: value });
}

function ask({ mode, thing, refusal, now }: Known, step: RaidStep): Move {
	// The pause of invites is renewed even if the moderator who turned raid mode on has left.
	const refused = isRenewal(step) ? undefined : refusal(thing);
	const { run } = mode;
	if (refused !== undefined) return { step: { ...step, run, state: "failed", note: refused } };
	const send = wantedValue(thing, mode, now);
	// Keeps the note about an earlier failed renewal.
	const note = isRenewal(step) ? step.note : null;
	return { step: { ...step, run, state: "asked", value_asked: send, note }, send };
}

function moveOff(known: Known): Move | undefined {
	const { mode, step, value, refusal, now } = known;
	if (!step || !mayBeOurs(step)) return undefined;
	const { run } = mode;
	if (step.state === "stuck" && step.run === run) return undefined;
	const note = null;
	// Discord does not list the channels that the bot cannot see.
	if (value === undefined && refusal(step.thing) === unseen)
		return { step: { ...step, run, state: "stuck", note: unseen } };
	if (value === undefined) return { step: { ...step, run, state: "gone", note } };
	const send = formerValue(step, now);
	if (value === send) return { step: { ...step, run, state: "restored", note } };
	if (!isOurs(step, value, now)) return { step: changed(step, mode, value) };
	const why = refusal(step.thing);
	if (why !== undefined) return { step: { ...step, run, state: "stuck", note: why } };
	return { step: { ...step, run, state: "restoring", note }, send };
}

function changed(step: RaidStep, { run }: RaidMode, value: number): RaidStep {
	return { ...step, run, state: "changed", note: String(value) };
}

export function confirmed(step: RaidStep): RaidStep {
	return step.state === "restoring"
		? { ...step, state: "restored" }
		: { ...step, state: "set", value_set: step.value_asked, note: null };
}

export function refused(step: RaidStep, note: string): RaidStep {
	if (step.state === "restoring") return { ...step, state: "stuck", note };
	// A pause of invites stays active if its renewal fails.
	const state = isRenewal(step) ? "set" : "failed";
	return { ...step, state, value_asked: step.value_set, note };
}

export function unanswered(step: RaidStep): RaidStep {
	const note = noteOf(said("raid.why.silent"));
	if (step.state === "restoring") return { ...step, state: "stuck", note };
	return { ...step, state: isRenewal(step) ? "set" : "failed", note };
}
