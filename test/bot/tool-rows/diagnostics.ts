// The rows of src/bot/tools/diagnostics.ts.

import { memberOverwrite } from "../../support/world.ts";
import * as person from "./person.ts";
import { botUser, channelId, memberId, newChannel, newMember, type Row, roleId } from "./scene.ts";

export const diagnosticsRows: Record<string, Row> = {
	check_permissions: {
		ids: { user_ids: memberId, role_ids: roleId, channel_ids: channelId },
		person: person.inChannel(["ManageRoles"], { argument: "channel_ids" }),
		args(scene) {
			const member = newMember(scene, scene.guild);
			const channel = newChannel(scene);
			scene.world.simulator.world.channels.setOverwrite(channel, memberOverwrite(member.user.id, { deny: 2048n }));
			return {
				user_ids: [member.user.id],
				channel_ids: [channel.id],
				permissions: ["view_channel", "SEND_MESSAGES", "BAN_MEMBERS"],
			};
		},
		answer: ({ guild }) => [
			"1 permission(s) allowed, 2 not, for @thing-",
			`VIEW_CHANNEL | allowed by @everyone (ID: ${guild.id})`,
			"SEND_MESSAGES | denied by the permissions of the member (ID: ",
			"BAN_MEMBERS | denied because no role grants it",
		],
		refuses: [[{ permissions: ["FLY"] }, 'permissions: Discord has no permission "FLY"']],
	},
	find_tools: {
		ids: {},
		person: person.anyMember(),
		args: () => ({ query: "clone a channel", limit: 1 }),
		answer: () => ["clone_channel (listed: call it directly)"],
	},
	get_bot_info: {
		ids: {},
		person: person.botManager,
		args: () => ({}),
		answer: ({ world }) => [
			`@alpha (ID: ${world.simulator.bot("alpha").id}), called Alpha in its configuration`,
			"Server Members Intent: switched on, used",
			"Message Content Intent: switched on, used",
			"guilds: 2, shown by list_guilds",
			"database: ready since ",
		],
	},
	run_setup_check: {
		ids: {},
		person: {
			needs: "to manage the bot",
			hidden: {
				leavesOut(scene, hidden) {
					const deny = "1024";
					const { id } = botUser(scene.world);
					scene.world.simulator.world.channels.setOverwrite(hidden, { id, type: 1, allow: "0", deny });
					return { args: {}, secrets: [hidden.id] };
				},
			},
		},
		args: () => ({}),
		answer: ({ guild }) => [
			`Setup in ${guild.name} (ID: ${guild.id}): `,
			" 0 error(s).",
			"ok: Message Content Intent: switched on",
			"ok: rank: @alpha (ID: ",
		],
	},
};
