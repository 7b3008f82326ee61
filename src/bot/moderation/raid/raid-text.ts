// Texts about raid mode for tool results and the moderation log.

import type { Guild } from "discord.js";
import { time } from "../../../discord/describe.ts";
import { countOf, resultLines } from "../../../discord/text.ts";
import { levels } from "../../../guild-document/names/setting-names.ts";
import type { RaidMode, RaidStep } from "../../store/tables/raid-modes.ts";
import { sample } from "../../tool/bulk.ts";
import type { LogEntry } from "../moderation-log.ts";
import { isChannel, isUnrenewed } from "./raid-rules.ts";

const maxNamed = 20;

/** Returns the name of a channel; undefined if the reader of the text cannot see the channel. */
export type NameOf = (channelId: string) => string | undefined;

const mention: NameOf = (id) => `<#${id}>`;

/** Formats the value of a setting in raid mode, such as "30 s", "HIGH" or "paused until 2026-01-31T12:00:00Z". */
export function valueText(thing: string, value: number): string {
	if (isChannel(thing)) return `${value} s`;
	if (thing === "verification") return levels.verification_level[value] ?? String(value);
	return value === 0 ? "open" : `paused until ${time(value)}`;
}

/** Lists the names of channels, and counts those that the reader cannot see. */
export function channelList(ids: readonly string[], nameOf: NameOf): string {
	const names = ids.flatMap((id) => nameOf(id) ?? []);
	const hidden = ids.length - names.length;
	return [
		...sample(names, maxNamed, (name) => name),
		...(hidden > 0 ? [`${countOf(hidden, "channel")} that you cannot see`] : []),
	].join(", ");
}

const titles: Record<string, string> = { invites: "Invites", verification: "Verification level" };

/** Describes the states of settings that raid mode changed or restored. Channels in the same state share a line. */
export function stepLines(mode: RaidMode, steps: readonly RaidStep[], nameOf: NameOf): string[] {
	const channels = steps.filter(({ thing }) => isChannel(thing));
	const ofGuild = ["invites", "verification"].flatMap((thing) => steps.find((step) => step.thing === thing) ?? []);
	return [
		...ofGuild.map((step) => `${titles[step.thing]}: ${outcomeText(step)}.`),
		...channelLines(mode, channels, nameOf),
	];
}

function outcomeText(step: RaidStep): string {
	const { thing, state, value_before, value_asked, value_set, note } = step;
	const text = (value: number | null) => valueText(thing, value ?? 0);
	switch (state) {
		case "kept":
			return "left as it was, because it is strict enough";
		case "asked":
			return `being changed to ${text(value_asked)}`;
		case "set":
			if (isUnrenewed(step)) return `${text(value_set)}; the pause could not be renewed and will be retried: ${note}`;
			return thing === "invites"
				? "paused; the pause is renewed while raid mode is on"
				: `${text(value_before)} → ${text(value_asked)}`;
		case "failed":
			return `not changed: ${note}`;
		case "restoring":
			return `being restored to ${text(value_before)}`;
		case "restored":
			return thing === "invites" ? "no longer paused by raid mode" : `restored to ${text(value_before)}`;
		case "changed":
			return `somebody changed it meanwhile, so it was left: ${text(Number(note))} (before raid mode: ${text(value_before)})`;
		case "gone":
			return "deleted meanwhile";
		case "stuck":
			return `not restored: ${note}`;
	}
}

function channelLines(mode: RaidMode, steps: readonly RaidStep[], nameOf: NameOf): string[] {
	const inState = (...states: readonly RaidStep["state"][]) => steps.filter(({ state }) => states.includes(state));
	const count = (...states: readonly RaidStep["state"][]) => countOf(inState(...states).length, "channel");
	const has = (...states: readonly RaidStep["state"][]) => inState(...states).length > 0;
	const byNote = (state: RaidStep["state"], label: string) =>
		[...Map.groupBy(inState(state), ({ note }) => note)].map(
			([note, some]) =>
				`${label}: ${channelList(
					some.map(({ thing }) => thing),
					nameOf,
				)}: ${note}.`,
		);
	const changed = inState("changed");
	const isOn = mode.wanted === "on";
	return resultLines(
		has("set") &&
			(isOn
				? `Slow mode: ${mode.slowmode} s in ${count("set")}.`
				: `Slow mode: still that of raid mode in ${count("set")}.`),
		has("asked", "restoring") && `Slow mode: being changed in ${count("asked", "restoring")}.`,
		has("kept") && isOn && `Slow mode: at least as long before in ${count("kept")}.`,
		has("restored") && `Slow mode: restored in ${count("restored")}.`,
		byNote("failed", "Slow mode not changed"),
		byNote("stuck", "Slow mode not restored"),
		changed.length > 0 &&
			`Somebody changed the slow mode meanwhile, so it was left: ${sample(
				changed.flatMap(({ thing, value_before, note }) => {
					const name = nameOf(thing);
					return name === undefined ? [] : [`${name}: ${note} s (before raid mode: ${value_before} s)`];
				}),
				maxNamed,
				(line) => line,
			).join(", ")}.`,
		has("gone") && `${count("gone")} deleted meanwhile.`,
	);
}

/** Whether raid mode failed to change, restore or renew a setting. */
export function hasFailed(steps: readonly RaidStep[]): boolean {
	return steps.some((step) => step.state === "failed" || step.state === "stuck" || isUnrenewed(step));
}

function entry(mode: RaidMode, title: string, lines: readonly string[]) {
	const { moderator_id } = mode;
	return {
		title,
		...(moderator_id !== null && { moderatorId: moderator_id }),
		description: lines.join("\n").slice(0, 4_000),
	};
}

/** Returns the moderation log entry about raid mode that was completely turned on or off. */
export function endEntry(mode: RaidMode, steps: readonly RaidStep[]): LogEntry {
	const isOn = mode.wanted === "on";
	const isFailure = hasFailed(steps);
	const advice = isOn ? "Turn raid mode on again to retry." : "Turn raid mode off again to retry.";
	return {
		...entry(mode, isOn ? "Raid mode is on" : "Raid mode is off", [
			...stepLines(mode, steps, mention),
			...(isFailure ? [advice] : []),
		]),
		isFailure,
	};
}

/** Of settings that changed after raid mode was completely on, such as those of new channels; undefined if none. */
export function laterEntry(mode: RaidMode, changed: readonly RaidStep[]): LogEntry | undefined {
	const shown = changed.filter((step) => step.state === "failed" || step.state === "changed" || isUnrenewed(step));
	if (shown.length === 0) return undefined;
	return { ...entry(mode, "Raid mode", stepLines(mode, shown, mention)), isFailure: true };
}

export function progressEntry(mode: RaidMode, all: number, done: number): LogEntry {
	const title = `Raid mode is being turned ${mode.wanted}`;
	return entry(mode, title, [`${done} of ${countOf(all, "setting")} done.`]);
}

export function viewLines(
	guild: Guild,
	{ mode, steps }: { mode: RaidMode; steps: readonly RaidStep[] },
	nameOf: NameOf,
): string[] {
	const { wanted, moderator_id, asked_at, ended_at } = mode;
	const member = guild.members.cache.get(moderator_id ?? "");
	const who = moderator_id === null ? "" : ` by ${member ? `@${member.user.username} ` : ""}(ID: ${moderator_id})`;
	return [
		ended_at === null
			? `Raid mode is being turned ${wanted}, asked for${who} at ${time(asked_at)}.`
			: `Raid mode is ${wanted}, turned ${wanted}${who} at ${time(asked_at)}.`,
		...stepLines(mode, steps, nameOf),
	];
}
