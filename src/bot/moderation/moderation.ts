// The feature `moderation`: commands for moderators, temporary bans and the moderation log.

import { menuPrefix } from "../../discord/role-menu.ts";
import { maxReasonLength } from "../../discord/text.ts";
import { sayIn } from "../../texts/texts.ts";
import { answerPrivately, deferPrivately } from "../commands/answer.ts";
import { type ComponentHandler, callerOf } from "../commands/components.ts";
import { combineFeatures, type Feature, type FeatureOptions, type MenuHandler } from "../commands/feature.ts";
import { modalOf } from "../commands/forms.ts";
import type { CallAs } from "../tool/call-as.ts";
import { moderationActions } from "./actions.ts";
import { Announcements } from "./announcements.ts";
import { caseCommands, createCaseTools, suggestCases } from "./cases/case-tools.ts";
import { Cases } from "./cases/cases.ts";
import { evidenceFor, MessageLog } from "./message-log/message-log.ts";
import { RecentMessages } from "./message-log/recent-messages.ts";
import { createModerationLog } from "./moderation-log.ts";
import { createPurge, purgeActions } from "./purge/purge.ts";
import { createRaid, raidActions } from "./raid/raid.ts";
import { createEntryButtons } from "./reports/entry-buttons.ts";
import { createReportTools } from "./reports/report-tools.ts";
import { Reporting, reportCommandNames } from "./reports/reporting.ts";
import { Reports } from "./reports/reports.ts";
import { createRoleMenus } from "./role-menus/role-menus.ts";
import { createServerLog } from "./server-log/server-log.ts";
import { createAutomodRules } from "./spam/automod-rules.ts";
import { createSpam } from "./spam/spam.ts";
import { tempBanTools } from "./temp-ban-tools.ts";
import { TempBans } from "./temp-bans.ts";

const deleteAndWarnName = "Delete and warn";

/** Names of all commands of this feature that are registered with Discord, including those of parts that are off. */
export const moderationCommandNames: readonly string[] = [
	...[...moderationActions, ...caseCommands, ...purgeActions, ...raidActions].flatMap(({ name, menus = [] }) => [
		name.replace(/ .*/, ""),
		...menus.map((menu) => menu.name),
	]),
	...reportCommandNames,
	deleteAndWarnName,
	menuPrefix,
];

export function createModeration(featureOptions: FeatureOptions): Feature | undefined {
	const { config, settings, connection, store, callAs } = featureOptions;
	if (!config.toml.features.moderation) return undefined;
	const recent = new RecentMessages();
	const moderationLog = createModerationLog({
		...featureOptions,
		evidenceFor: (one) => evidenceFor({ recent, settings }, one),
		onPosted: (...entry) => void cases.setEntry(...entry),
	});
	const bans = new TempBans({ ...featureOptions, moderationLog, decided: () => cases.worker.retry() });
	const cases: Cases = new Cases({ ...featureOptions, moderationLog, bans });
	const announcements = new Announcements(featureOptions);
	const deleteAndWarn = createDeleteAndWarn(callAs);
	const reports = new Reports(featureOptions);
	const reporting = new Reporting({ ...featureOptions, reports });
	const combined = combineFeatures([
		{ start: moderationLog.start },
		bans,
		cases.worker,
		cases.byHand,
		announcements,
		{
			tools: tempBanTools(bans, store),
			actions: moderationActions,
			components: [deleteAndWarn.component],
			menus: [deleteAndWarn.menu],
			tempBans: bans,
			announcer: announcements,
			cases,
			suggest(query) {
				const { members, client } = connection.guild(query.guildId) ?? {};
				return suggestCases(cases, query, (id) => (members?.cache.get(id) ?? client?.users.cache.get(id))?.displayName);
			},
		},
		{ tools: createCaseTools({ cases, settings, cdn: config.discordCdnUrl }), actions: caseCommands },
		createRoleMenus(featureOptions),
		reports.worker,
		{
			tools: createReportTools({ settings, reports, cases }),
			components: [reporting.form, createEntryButtons({ reports, callAs })],
			menus: reporting.menus,
		},
		createServerLog({ ...featureOptions, cases }),
		new MessageLog({ ...featureOptions, cdn: config.discordCdnUrl, recent }),
		createRaid({ ...featureOptions, moderationLog }),
		createPurge(featureOptions),
		createAutomodRules(featureOptions),
		createSpam({ ...featureOptions, cdn: config.discordCdnUrl, cases, moderationLog }),
	]);
	return {
		...combined,
		async close() {
			await combined.close();
			await moderationLog.settled();
		},
	};
}

const prefix = "delwarn";

/** A form asks why, then the message is deleted and its author is warned. */
function createDeleteAndWarn(callAs: CallAs): { menu: MenuHandler; component: ComponentHandler } {
	return {
		menu: {
			type: "message",
			name: deleteAndWarnName,
			may: "warn",
			async run(interaction) {
				const { targetMessage, targetId, channelId } = interaction;
				const ids = [channelId, targetId, targetMessage.author.id] as const;
				await interaction.showModal(formFor(ids, interaction.locale));
			},
		},
		component: {
			prefix,
			async run(interaction, rest) {
				if (!interaction.isModalSubmit()) return;
				await deferPrivately(interaction);
				const [channel_id = "", messageId = "", userId = ""] = rest.split(":");
				const reason = interaction.fields.getTextInputValue("reason").trim();
				const call = { ...callerOf(interaction), command: deleteAndWarnName };
				const deleted = await callAs({
					...call,
					tool: "delete_messages",
					args: { channel_id, message_ids: [messageId], reason },
				});
				if (deleted.isError) {
					const text = `${deleted.text}\n${sayIn(interaction.locale)("case.nobody_warned")}`;
					return answerPrivately(interaction, text);
				}
				const warned = await callAs({
					...call,
					tool: "warn_member",
					args: { user_ids: [userId], reason, message_ids: [messageId] },
				});
				const text = `${deleted.text}\n${warned.text}`;
				await answerPrivately(interaction, text);
			},
		},
	};
}

function formFor(ids: readonly [channelId: string, messageId: string, userId: string], locale: string) {
	const say = sayIn(locale);
	const label = say("case.reason.label");
	return modalOf({
		id: [prefix, ...ids].join(":"),
		title: say("command.menu.delete_and_warn.name"),
		fields: [{ id: "reason", label, hint: say("case.reason.hint"), isLong: true, max: maxReasonLength }],
		about: ids[2],
		locale,
	});
}
