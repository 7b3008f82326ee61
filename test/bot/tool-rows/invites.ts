// The rows of src/bot/tools/invites.ts.

import { AuditLogEvent, PermissionFlagsBits } from "discord.js";
import * as person from "./person.ts";
import {
	botUser,
	channelId,
	foreignChannel,
	inChannel,
	newChannel,
	type Row,
	refusedAfterFetch,
	roleId,
	type Scene,
} from "./scene.ts";

const inviteCode = refusedAfterFetch("There is no invite", (scene) => newInvite(scene, foreignChannel(scene)).code);

function newInvite(scene: Scene, channel = newChannel(scene)) {
	const inviter = botUser(scene.world);
	return scene.world.simulator.world.invites.add(channel, { inviter });
}

/** Removes MANAGE_GUILD from the bot's roles. */
function removeManageGuild({ world }: Scene) {
	const { world: platform } = world.simulator;
	for (const guild of platform.guilds.values())
		for (const role of guild.roles.values()) {
			const rest = BigInt(role.permissions) & ~PermissionFlagsBits.ManageGuild;
			if (String(rest) !== role.permissions) platform.roles.edit(guild, role, { permissions: String(rest) });
		}
}

export const invitesRows: Record<string, Row> = {
	list_invites: {
		ids: { channel_ids: channelId },
		person: person.inChannel(
			["ManageChannels"],
			{
				leavesOut({ world }, hidden) {
					const inviter = botUser(world);
					const { code } = world.simulator.world.invites.add(hidden, { inviter });
					return { args: {}, secrets: [code, hidden.id, hidden.name] };
				},
			},
			// For the invites of all channels.
			{ also: ["ManageGuild"] },
		),
		ask(scene) {
			const channel = newChannel(scene);
			const { code } = newInvite(scene, channel);
			return {
				args: { channel_ids: [channel.id] },
				request: `GET /channels/${channel.id}/invites`,
				answer: [
					"1 invite(s) to #",
					`${code} | to #${channel.name} (ID: ${channel.id}) | by @alpha`,
					"| used: 0 | created: ",
				],
			};
		},
		needs: inChannel("ManageChannels"),
	},
	create_invite: {
		ids: { channel_id: channelId, role_ids: roleId },
		person: person.inChannel(["CreateInstantInvite"]),
		act(scene) {
			const channel = newChannel(scene);
			const { invites } = scene.world.simulator.world;
			return {
				args: { channel_id: channel.id, max_uses: 3 },
				request: `POST /channels/${channel.id}/invites`,
				done: () => invites.list({ channel_id: channel.id })[0]?.max_uses === 3,
			};
		},
		reason: AuditLogEvent.InviteCreate,
		needs: inChannel("CreateInstantInvite"),
		effects: (guild) => ({
			write: [
				{ channel_id: guild.channel("general") },
				{ channel_id: guild.channel("general"), role_ids: [guild.role("Helpers")] },
			],
			destructive: [
				["gives ", { channel_id: guild.channel("general"), role_ids: [guild.role("Staff")] }],
				["gives VIEW_CHANNEL in #staff", { channel_id: guild.channel("general"), role_ids: [guild.role("Insiders")] }],
			],
		}),
	},
	get_invite: {
		ids: { invite_code: inviteCode },
		person: person.anyMember({
			refusal: "There is no invite",
			args({ world }, hidden) {
				const inviter = botUser(world);
				const { code } = world.simulator.world.invites.add(hidden, { inviter });
				return { invite_code: code };
			},
		}),
		ask(scene) {
			const channel = newChannel(scene);
			const { code } = newInvite(scene, channel);
			return {
				args: { invite_code: code },
				request: `GET /invites/${code}`,
				answer: [
					`${code} | to #${channel.name} (ID: ${channel.id}) | by @alpha`,
					`The guild has about ${scene.guild.members.size} member(s).`,
				],
			};
		},
		needs: "no permission",
		refuses: ["", "x", "a/b", "../users/@me", "https://example.com/abc", "https://discord.gg/"].map((invite_code) => [
			{ invite_code },
		]),
	},
	delete_invite: {
		ids: {},
		person: person.inChannel(["ManageChannels"], { refusal: "There is no invite" }),
		act(scene) {
			removeManageGuild(scene);
			const channel = newChannel(scene);
			const { code } = newInvite(scene, channel);
			return {
				args: { invite_codes: [code] },
				request: `DELETE /invites/${code}`,
				done: () => !scene.world.simulator.world.invites.get(code),
				channel: channel.id,
			};
		},
		reason: AuditLogEvent.InviteDelete,
		needs: inChannel("ManageChannels"),
		dryRun: /Would delete 1 invite\(s\), whose links would stop working/,
	},
};
