// The rows of src/bot/tools/channels.ts.

import { AuditLogEvent, ChannelType } from "discord.js";
import type { Guild } from "../../../src/simulator/world/state/entities.ts";
import * as person from "./person.ts";
import {
	categoryId,
	channelId,
	freshName,
	inChannel,
	inGuild,
	memberId,
	newChannel,
	type Row,
	roleId,
} from "./scene.ts";

export const channelsRows: Record<string, Row> = {
	create_channel: {
		ids: {
			category_id: categoryId,
			below_channel_id: channelId,
			view_role_ids: roleId,
			view_user_ids: memberId,
			write_role_ids: roleId,
		},
		person: person.inGuild(["ManageChannels"], { argument: "below_channel_id" }),
		act({ guild }) {
			const name = freshName();
			return {
				args: { name },
				request: `POST /guilds/${guild.id}/channels`,
				done: () => [...guild.channels.values()].some((one) => one.name === name),
			};
		},
		reason: AuditLogEvent.ChannelCreate,
		needs: inGuild("ManageChannels"),
		effects: (guild) => ({
			write: [{ name: "plain" }, { name: "private", view_role_ids: [guild.role("Staff")] }],
			destructive: [
				[
					"allows MANAGE_MESSAGES in the channel",
					{ name: "x", permission_overwrites: [{ id: guild.role("Regular"), allow: ["MANAGE_MESSAGES"] }] },
				],
			],
		}),
		refuses: [
			[{ channel_type: "voice", topic: "x" }, "topic: voice channels do not have this setting"],
			[{ channel_type: "text", user_limit: 0 }, "user_limit: text channels do not have this setting"],
			[
				{ channel_type: "category", category_id: "#Talk", nsfw: false },
				"nsfw: category channels do not have this setting; category_id: category channels do not have this setting",
			],
			[{ channel_type: "announcement", slowmode: "1s" }, "slowmode: announcement channels do not have this setting"],
			[{ channel_type: "forum", tags: [{ name: "x" }, { name: "x" }] }, "tags: two of the tags have the same name"],
			[{ channel_type: "text", tags: [] }, "tags: text channels do not have this setting"],
			[{ channel_type: "Voices" }, "channel_type: expected"],
			[{ channel_type: 0 }, "channel_type: expected"],
		],
	},
	edit_channel: {
		ids: {
			channel_id: channelId,
			category_id: categoryId,
			below_channel_id: channelId,
			view_role_ids: roleId,
			view_user_ids: memberId,
			write_role_ids: roleId,
		},
		person: person.inChannel(["ManageChannels"]),
		act(scene) {
			const channel = newChannel(scene);
			return {
				args: { channel_id: channel.id, topic: "changed" },
				request: `PATCH /channels/${channel.id}`,
				done: () => channel.topic === "changed",
			};
		},
		reason: AuditLogEvent.ChannelUpdate,
		needs: inChannel(
			"ManageChannels",
			{ permission: "ManageRoles", with: { lock_permissions: true } },
			{ permission: "SetVoiceChannelStatus", with: { status: "" } },
		),
		dryRun: /^topic: none → changed$/m,
		effects: (guild) => ({
			write: [
				{ channel_id: guild.channel("general"), slowmode: "10s" },
				{ channel_id: guild.channel("Lounge"), name: "Lounge", user_limit: 5, bitrate: 8000 },
			],
			destructive: [
				["replaces the channel's topic", { channel_id: guild.channel("general"), slowmode: "20s", topic: "Soup" }],
				[
					"replaces the channel's view_role_ids",
					{ channel_id: guild.channel("general"), view_role_ids: [guild.role("Staff")] },
				],
			],
		}),
		refuses: [[{ topic: undefined }, "expected at least one of these"]],
	},
	list_channels: {
		ids: { category_id: categoryId },
		person: person.anyMember({ leavesOut: (_, hidden) => ({ args: {}, secrets: [hidden.id, hidden.name] }) }),
		args: () => ({}),
		answer: ({ guild }) => [
			`${guild.channels.size} channel(s), from the top, categories above their channels:`,
			...[...guild.channels.values()].map(({ name, id }) => `#${name} | ID: ${id} | `),
		],
	},
	get_channel: {
		ids: { channel_id: channelId },
		person: person.anyMember({ argument: "channel_id" }),
		args: ({ guild }) => ({ channel_id: named(guild, "general") }),
		answer: ({ guild }) => [
			`#general (ID: ${named(guild, "general")}), text`,
			`category: #Talk (ID: ${named(guild, "Talk")})`,
			"topic: Everything and nothing",
		],
	},
	delete_channel: {
		ids: { channel_id: channelId },
		person: person.inChannel(["ManageChannels"]),
		act(scene) {
			const { id } = newChannel(scene);
			return { args: { channel_id: id }, request: `DELETE /channels/${id}`, done: () => !scene.guild.channels.has(id) };
		},
		reason: AuditLogEvent.ChannelDelete,
		needs: inChannel("ManageChannels"),
		dryRun: /^Would delete the text channel #thing-\d+ \(ID: \d+\), with everything in it\.$/m,
	},
	move_channels: {
		ids: { channel_ids: channelId, category_id: categoryId, below_channel_id: channelId },
		person: person.inChannel(["ManageChannels"], { argument: "channel_ids" }),
		act(scene) {
			const category = newChannel(scene, ChannelType.GuildCategory);
			const channel = newChannel(scene);
			return {
				args: { channel_ids: [channel.id], category_id: category.id },
				request: `PATCH /guilds/${scene.guild.id}/channels`,
				done: () => channel.parent_id === category.id,
				channel: channel.id,
			};
		},
		dryRun: /^Would move 1 channel\(s\), 1 of them from elsewhere\.$/m,
		needs: inChannel("ManageChannels", { permission: "ManageRoles", with: { lock_permissions: true } }),
		effects: (guild) => ({
			write: [{ channel_ids: [guild.channel("Lounge")], category_id: guild.channel("Elsewhere") }],
			destructive: [
				[
					"",
					{ channel_ids: [guild.channel("general")], category_id: guild.channel("Elsewhere"), lock_permissions: true },
				],
			],
		}),
	},
	clone_channel: {
		ids: { channel_id: channelId },
		adds: true,
		person: person.inGuild(["ManageChannels"], { argument: "channel_id" }),
		act(scene) {
			const channel = newChannel(scene);
			const { name } = channel;
			return {
				args: { channel_id: channel.id },
				request: `POST /guilds/${scene.guild.id}/channels`,
				done: () => [...scene.guild.channels.values()].filter((one) => one.name === name).length === 2,
			};
		},
		reason: AuditLogEvent.ChannelCreate,
		needs: inGuild("ManageChannels"),
	},
};

function named(guild: Guild, name: string): string | undefined {
	return [...guild.channels.values()].find((one) => one.name === name)?.id;
}
