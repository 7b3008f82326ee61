// What is said about raid mode, to models in English and to people in their language: in results and the moderation log.

import type { Guild } from "discord.js";
import { time } from "../../../discord/describe.ts";
import { withTitles } from "../../../discord/permissions.ts";
import { levels } from "../../../guild-document/names/setting-names.ts";
import { inList, type Said, said, type Text } from "../../../texts/texts.ts";
import type { RaidMode, RaidStep } from "../../store/tables/raid-modes.ts";
import { shownOf } from "../../tool/bulk.ts";
import type { LogEntry } from "../moderation-log.ts";
import { isChannel, isUnrenewed } from "./raid-rules.ts";

const maxNamed = 20;

/** Undefined if the reader cannot see the channel. */
export type NameOf = (channelId: string) => string | undefined;

export interface Reader {
	nameOf: NameOf;
	isPerson: boolean;
}

const ofLog: Reader = { nameOf: (id) => `<#${id}>`, isPerson: true };

/** Such as "30 s", "HIGH" or "paused until 2026-01-31T12:00:00Z". */
function valueText(thing: string, value: number, { isPerson }: Reader): Text {
	if (isChannel(thing)) return said("raid.seconds", { seconds: String(value) });
	if (thing === "verification") {
		const level = levels.verification_level[value];
		return isPerson && level ? said(`raid.level.${level}`) : (level ?? String(value));
	}
	if (value === 0) return said("raid.open");
	return said("raid.until", { time: isPerson ? `<t:${Math.floor(value / 1000)}:f>` : time(value) });
}

export function channelList(ids: readonly string[], { nameOf }: Reader): Text {
	const names = ids.flatMap((id) => nameOf(id) ?? []);
	const hidden = ids.length - names.length;
	return listOf(names, hidden > 0 && said("raid.hidden", { count: hidden }));
}

function listOf(items: readonly Text[], last: Text | false = false): Text {
	const shown = items.slice(0, shownOf(maxNamed));
	const more = items.length - shown.length;
	return inList([...shown, ...(more > 0 ? [said("raid.more", { count: more })] : []), ...(last ? [last] : [])]);
}

/** Why a setting was not changed: a message, as JSON. */
function noteText(note: string | null, { isPerson }: Reader): Text {
	const one = JSON.parse(note ?? '""') as Said & { people?: Said };
	return isPerson ? withTitles(one.people ?? one) : one;
}

/** Channels in the same state share a line. */
export function stepLines(mode: RaidMode, steps: readonly RaidStep[], reader: Reader): Said[] {
	const channels = steps.filter(({ thing }) => isChannel(thing));
	const ofGuild = (["invites", "verification"] as const).flatMap((thing) =>
		steps
			.filter((step) => step.thing === thing)
			.map((step) => said(`raid.${thing}`, { outcome: outcomeOf(step, reader) })),
	);
	return [...ofGuild, ...channelLines(mode, channels, reader)];
}

function outcomeOf(step: RaidStep, reader: Reader): Said {
	const { thing, state, value_before, value_asked, value_set } = step;
	const text = (value: number | null) => valueText(thing, value ?? 0, reader);
	const before = text(value_before);
	switch (state) {
		case "kept":
			return said("raid.kept");
		case "asked":
			return said("raid.asked", { value: text(value_asked) });
		case "set":
			if (isUnrenewed(step))
				return said("raid.unrenewed", { value: text(value_set), note: noteText(step.note, reader) });
			return thing === "invites" ? said("raid.paused") : said("raid.set", { before, after: text(value_asked) });
		case "failed":
			return said("raid.failed", { note: noteText(step.note, reader) });
		case "restoring":
			return said("raid.restoring", { value: before });
		case "restored":
			return thing === "invites" ? said("raid.unpaused") : said("raid.restored", { value: before });
		case "changed":
			return said("raid.changed", { value: text(Number(step.note)), before });
		case "gone":
			return said("raid.gone");
		case "stuck":
			return said("raid.stuck", { note: noteText(step.note, reader) });
	}
}

function channelLines(mode: RaidMode, steps: readonly RaidStep[], reader: Reader): Said[] {
	const inState = (...states: readonly RaidStep["state"][]) => steps.filter(({ state }) => states.includes(state));
	const line = (make: (channels: Said) => Said | false, ...states: readonly RaidStep["state"][]) => {
		const { length } = inState(...states);
		return length > 0 && make(said("spam.channels", { count: length }));
	};
	const byNote = (state: RaidStep["state"], key: "raid.slow.failed" | "raid.slow.stuck") =>
		[...Map.groupBy(inState(state), ({ note }) => note)].map(([note, some]) => {
			const ids = some.map(({ thing }) => thing);
			return said(key, { list: channelList(ids, reader), note: noteText(note, reader) });
		});
	const changed = inState("changed").flatMap(({ thing, value_before, note }) => {
		const name = reader.nameOf(thing);
		return name === undefined
			? []
			: [said("raid.slow.one", { name, seconds: note ?? "", before: String(value_before) })];
	});
	const isOn = mode.wanted === "on";
	return [
		line(
			(channels) =>
				isOn ? said("raid.slow", { seconds: String(mode.slowmode), channels }) : said("raid.slow.left", { channels }),
			"set",
		),
		line((channels) => said("raid.slow.changing", { channels }), "asked", "restoring"),
		line((channels) => isOn && said("raid.slow.kept", { channels }), "kept"),
		line((channels) => said("raid.slow.restored", { channels }), "restored"),
		byNote("failed", "raid.slow.failed"),
		byNote("stuck", "raid.slow.stuck"),
		inState("changed").length > 0 && said("raid.slow.changed", { list: listOf(changed) }),
		line((channels) => said("raid.slow.gone", { channels }), "gone"),
	]
		.flat()
		.filter((one) => one !== false);
}

export function hasFailed(steps: readonly RaidStep[]): boolean {
	return steps.some((step) => step.state === "failed" || step.state === "stuck" || isUnrenewed(step));
}

function entry({ moderator_id, wanted }: RaidMode, title: Said, description: readonly Said[]) {
	const gravity = wanted === "on" ? ("warning" as const) : ("lifted" as const);
	return { title, gravity, ...(moderator_id !== null && { moderatorId: moderator_id }), description };
}

export function endEntry(mode: RaidMode, steps: readonly RaidStep[]): LogEntry {
	const isFailure = hasFailed(steps);
	const advice = isFailure ? [said(`raid.${mode.wanted}.retry`)] : [];
	const lines = [...stepLines(mode, steps, ofLog), ...advice];
	return { ...entry(mode, said(`raid.${mode.wanted}.title`), lines), isFailure };
}

/** Of settings that changed after raid mode was completely on, such as those of new channels; undefined if none. */
export function laterEntry(mode: RaidMode, changed: readonly RaidStep[]): LogEntry | undefined {
	const shown = changed.filter((step) => step.state === "failed" || step.state === "changed" || isUnrenewed(step));
	if (shown.length === 0) return undefined;
	return { ...entry(mode, said("raid.title"), stepLines(mode, shown, ofLog)), isFailure: true };
}

export function progressEntry(mode: RaidMode, all: number, done: number): LogEntry {
	const lines = [said("raid.progress", { done, count: all })];
	return entry(mode, said(`raid.${mode.wanted}.running.title`), lines);
}

export function viewLines(
	guild: Guild,
	{ mode, steps }: { mode: RaidMode; steps: readonly RaidStep[] },
	reader: Reader,
): Said[] {
	const { wanted, moderator_id, asked_at, ended_at } = mode;
	const at = reader.isPerson ? `<t:${Math.floor(asked_at / 1000)}:f>` : time(asked_at);
	const state = ended_at === null ? (`raid.${wanted}.running` as const) : (`raid.${wanted}` as const);
	const member = guild.members.cache.get(moderator_id ?? "");
	const name = member ? `@${member.user.username} ` : "";
	const who = reader.isPerson ? `<@${moderator_id}>` : `${name}(ID: ${moderator_id})`;
	return [
		moderator_id === null ? said(state, { at }) : said(`${state}.by`, { at, who }),
		...stepLines(mode, steps, reader),
	];
}
