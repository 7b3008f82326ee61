// Plans the changes of settings for raid mode, both for execution and for the preview of the tool raid_mode.

import type { Guild } from "discord.js";
import { isStaffOnly } from "../../../discord/staff.ts";
import type { Grants } from "../../settings/grants.ts";
import type { RaidMode, RaidStep } from "../../store/tables/raid-modes.ts";
import { isChannel, type Move, nextMove } from "./raid-rules.ts";
import { moderatorOf, type ReadSettings, refusalFor } from "./raid-settings.ts";

export interface RaidPlan {
	moves: Move[];
	/** Channels that only staff can see keep their slow mode. */
	staffOnly: string[];
}

export async function planRaidMode(
	guild: Guild,
	mode: RaidMode,
	steps: readonly RaidStep[],
	{ settings }: Pick<ReadSettings, "settings">,
	now: number,
	grants: Grants,
): Promise<RaidPlan> {
	const refusal = refusalFor(guild, await moderatorOf(guild, mode), grants);
	const stored = new Map(steps.map((step) => [step.thing, step]));
	const staffOnly =
		mode.wanted === "off"
			? []
			: [...settings.keys()].filter((thing) => {
					const channel = guild.channels.cache.get(thing);
					const isNew = isChannel(thing) && !stored.has(thing);
					return isNew && channel !== undefined && isStaffOnly(channel);
				});
	const left = new Set(staffOnly);
	const things = new Set([...settings.keys(), ...stored.keys()]);
	const moves = [...things].flatMap((thing) => {
		if (left.has(thing)) return [];
		const step = stored.get(thing);
		const value = settings.get(thing);
		return nextMove({ mode, thing, step, value, refusal, now }) ?? [];
	});
	return { moves, staffOnly };
}
