// Raid mode as a part of the feature `moderation`: background work, tools, commands, and the suggestion to turn it on
// when many people join.

import { type Action, type ActionOption, announceOption } from "../../commands/action.ts";
import { answerPrivately, deferPrivately } from "../../commands/answer.ts";
import { type ComponentHandler, callerOf } from "../../commands/components.ts";
import { combineFeatures, type FeatureOptions } from "../../commands/feature.ts";
import { requireHeld } from "../../commands/who-may.ts";
import type { Grants } from "../../settings/grants.ts";
import type { CallAs } from "../../tool/call-as.ts";
import type { ModerationLog } from "../moderation-log.ts";
import { postOnce } from "../night/notice.ts";
import { createJoinWatch, noticeOfRaid, raidPrefix } from "./join-watch.ts";
import { RaidModes, type RaidModesOptions } from "./raid-mode.ts";
import { raidTools } from "./raid-tools.ts";

const reason: ActionOption = { name: "reason", kind: "reason", argument: "reason" };

export const raidActions: readonly Action[] = [
	{
		name: "raid on",
		tool: "raid_mode",
		fixed: { mode: "on" },
		options: [
			{
				name: "slowmode",
				kind: "integer",
				argument: "slowmode",
				min: 5,
				max: 21_600,
				convert: (seconds) => `${seconds}s`,
			},
			reason,
			announceOption,
		],
		may: "raid_mode",
		confirm: () => true,
		heavy: true,
	},
	{
		name: "raid off",
		tool: "raid_mode",
		fixed: { mode: "off" },
		options: [reason],
		may: "raid_mode",
		confirm: () => true,
		heavy: true,
	},
	{ name: "raid status", tool: "raid_status", options: [], may: "raid_mode" },
];

interface RaidOptions
	extends Pick<FeatureOptions, "settings" | "connection" | "store" | "log" | "mutex" | "callAs">,
		Pick<RaidModesOptions, "now" | "backOffMs" | "maxSleepMs"> {
	moderationLog: Pick<ModerationLog, "add" | "channelOf">;
}

export function createRaid(options: RaidOptions) {
	const { settings, connection, log, moderationLog, callAs } = options;
	const modes = new RaidModes({
		...options,
		async notify({ guild_id, run, ends_at }) {
			await settings.loaded;
			const { "moderation.log_channel": log, "audit.channel": audit, "night.ping_role": role } = settings.of(guild_id);
			const posting = { channelIds: [log, audit], role, nonce: `${guild_id}-${run}` };
			await postOnce(options, guild_id, posting, noticeOfRaid(ends_at ?? 0));
		},
	});
	const watch = createJoinWatch({ settings, connection, modes, moderationLog, log });
	return combineFeatures([
		modes,
		watch,
		{ tools: raidTools(modes), actions: raidActions, components: [raidButtonHandler(settings, callAs)] },
	]);
}

function raidButtonHandler(grants: Grants, callAs: CallAs): ComponentHandler {
	return {
		prefix: raidPrefix,
		async run(interaction, rest) {
			if (!["on", "off"].includes(rest) || !interaction.isButton()) return;
			requireHeld(grants, interaction, { may: "raid_mode" });
			await deferPrivately(interaction);
			const { message } = interaction;
			const { text, isError } = await callAs({
				...callerOf(interaction),
				tool: "raid_mode",
				args: { mode: rest },
				command: `the button to turn ${rest} raid mode`,
			});
			await answerPrivately(interaction, text);
			if (!isError && message.editable) await message.edit({ components: [] });
		},
	};
}
