// The tools raid_mode and raid_status.

import type { Guild } from "discord.js";
import * as v from "valibot";
import { actingPerson } from "../../../discord/acting-person.ts";
import { channelName, guildName } from "../../../discord/describe.ts";
import { currentRun, timeLeftMs } from "../../../discord/rest/rest.ts";
import { visibleChannel } from "../../../discord/visible-channels.ts";
import { within } from "../../../lib/wait.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { joined, render, type Said, said, type Text } from "../../../texts/texts.ts";
import { asking, type Output, parts, type Result, result } from "../../results/result.ts";
import type { RaidMode, RaidStep } from "../../store/tables/raid-modes.ts";
import { choice, defaultReason, duration, guild_id, reason } from "../../tool/arguments/arguments.ts";
import type { BotTool, Plan } from "../../tool/context.ts";
import { destructiveTool, readTool } from "../../tool/define.ts";
import type { RaidModes, RaidView } from "./raid-mode.ts";
import { confirmed, isChannel } from "./raid-rules.ts";
import { planRaidMode, type RaidPlan, readSettings } from "./raid-settings.ts";
import { channelList, hasFailed, type Reader, stepLines, viewLines } from "./raid-text.ts";

const maxWaitMs = 8_000;
const reserveMs = 3_000;

const background =
	"The bot continues in the background, even after a restart. The moderation log will show the result; raid_status shows the progress.";

type Modes = Pick<RaidModes, "turn" | "view">;

export function raidTools(modes: Modes): BotTool[] {
	return [raidMode(modes), raidStatus(modes)];
}

function raidMode(modes: Modes) {
	return destructiveTool({
		name: "raid_mode",
		title: "Turn raid mode on or off",
		description:
			"During a raid: pause invites, require verification level HIGH, set slow mode in all channels but staff's; off restores what was before.",
		toolset: "moderation",
		person: { may: "raid_mode" },
		permissions: ["ManageGuild"],
		lock: ({ guild_id }, { guildId }) => [`raid ${guild_id ?? guildId}`],
		input: {
			guild_id,
			mode: choice(["on", "off"], "On or off."),
			slowmode: v.optional(duration({ min: "5s", max: "6h" }, "Slow mode."), "30s"),
			reason,
		},
		async plan({ mode: wanted, slowmode }, { guild, settings }): Promise<Plan> {
			const view = await modes.view(guild.id);
			requireChange(guild, view, wanted, slowmode);
			const mode = newMode(guild, view, wanted, slowmode);
			const steps = view?.steps ?? [];
			const plan = await planRaidMode(guild, mode, steps, await readSettings(guild), Date.now(), settings);
			const isNew = wanted === "on" && view?.mode.wanted !== "on";
			return {
				preview: previewOf(guild, mode, plan),
				record: {
					action: wanted === "on" ? "raid_on" : "raid_off",
					userIds: [],
					...(isNew && { detail: [said("case.detail.slowmode", { seconds: String(slowmode) })] }),
				},
				async act() {
					const { ended } = await modes.turn(guild.id, mode);
					const ms = Math.min(maxWaitMs, timeLeftMs() - reserveMs);
					await within(ms, ended);
					const after = await modes.view(guild.id);
					if (!after) return result(`Raid mode is being turned ${wanted}.`, said(`raid.${wanted}.running.title`));
					const isRunning = after.mode.ended_at === null;
					return parts(
						viewResult(guild, after),
						staffLine(guild, plan),
						isRunning && result(background, said("raid.background")),
						hasFailed(after.steps) &&
							result(`Turn raid mode ${wanted} again to retry what failed.`, said(`raid.${wanted}.retry`)),
					);
				},
			};
		},
	});
}

function raidStatus(modes: Modes) {
	return readTool({
		name: "raid_status",
		title: "Raid mode status",
		description: "Whether raid mode is on, and what it changed or restored.",
		toolset: "moderation",
		person: { may: "raid_mode", permissions: ["ManageGuild"] },
		input: { guild_id },
		async run(_, { guild }) {
			const view = await modes.view(guild.id);
			if (!view) return result(`Raid mode was never on in ${guildName(guild)}.`, said("raid.never"));
			const slowed = view.steps.flatMap(({ thing, state }) => (isChannel(thing) && state === "set" ? thing : []));
			return parts(
				viewResult(guild, view),
				slowed.length > 0 && listResult(guild, slowed, "In slow mode", "raid.slowed"),
			);
		},
	});
}

function requireChange(guild: Guild, view: RaidView, wanted: RaidMode["wanted"], slowmode: number): void {
	if (!view) {
		if (wanted === "off") throw new SaidError(said("raid.not_on"));
		return;
	}
	const { mode, steps } = view;
	if (mode.wanted !== wanted || hasFailed(steps)) return;
	// Otherwise it would end by itself.
	if (wanted === "on" && (mode.slowmode !== slowmode || mode.ends_at !== null)) return;
	if (wanted === "on" && steps.some(({ state }) => state === "changed")) return;
	const { models, people } = viewResult(guild, view);
	const nothing = said("result.nothing");
	throw new SaidError(joined([...people, nothing]) ?? nothing, { models: [...models, "Nothing was done."].join("\n") });
}

function newMode(guild: Guild, view: RaidView, wanted: RaidMode["wanted"], slowmode: number): RaidMode {
	return {
		guild_id: guild.id,
		wanted,
		run: (view?.mode.run ?? 0) + 1,
		moderator_id: actingPerson(guild)?.id ?? null,
		// The reason of the current tool call includes the person's name.
		mark: `Raid mode ${wanted}: ${currentRun()?.reason ?? defaultReason}`,
		// Turning raid mode off does not change the stored slow mode.
		slowmode: wanted === "on" ? slowmode : (view?.mode.slowmode ?? slowmode),
		asked_at: Date.now(),
		ended_at: null,
		ends_at: null,
		told: 1,
	};
}

function previewOf(guild: Guild, mode: RaidMode, plan: RaidPlan): Output {
	const steps = plan.moves.map(({ step, send }): RaidStep => (send === undefined ? step : confirmed(step)));
	return parts(
		asking(
			`Would turn raid mode ${mode.wanted} in ${guildName(guild)}:`,
			said(mode.wanted === "on" ? "result.raid_on.ask" : "result.raid_off.ask"),
		),
		inBoth(guild, (reader) => stepLines(mode, steps, reader)),
		staffLine(guild, plan),
		steps.length === 0 && result("No setting changes.", said("raid.nothing_changes")),
	);
}

function viewResult(guild: Guild, view: NonNullable<RaidView>): Result {
	return inBoth(guild, (reader) => viewLines(guild, view, reader));
}

function staffLine(guild: Guild, { staffOnly }: RaidPlan): Result | false {
	return staffOnly.length > 0 && listResult(guild, staffOnly, "Left, because only staff see them", "raid.staff");
}

function listResult(guild: Guild, ids: readonly string[], label: string, key: "raid.staff" | "raid.slowed"): Result {
	const [models, people] = readersIn(guild).map((reader) => channelList(ids, reader)) as [Text, Text];
	return result(`${label}: ${render(models, "en")}.`, said(key, { list: people }));
}

function inBoth(guild: Guild, linesFor: (reader: Reader) => Said[]): Result {
	const [models, people] = readersIn(guild).map(linesFor) as [Said[], Said[]];
	return result(
		models.map((line) => render(line, "en")),
		...people,
	);
}

function readersIn(guild: Guild): [models: Reader, people: Reader] {
	const nameOf = (id: string) => {
		const channel = visibleChannel(guild, id);
		return channel && channelName(channel);
	};
	// Channels without a name are hidden from the person.
	return [
		{ nameOf, isPerson: false },
		{ nameOf: (id) => nameOf(id) && `<#${id}>`, isPerson: true },
	];
}
