// The rows of src/bot/tools/reactions.ts.

import type { Message } from "../../../src/simulator/world/state/entities.ts";
import * as person from "./person.ts";
import {
	adaIn,
	anyId,
	botUser,
	channelId,
	type IdCase,
	inChannel,
	messageId,
	newChannel,
	newMember,
	type Row,
	refusedByBot,
	type Scene,
	written,
} from "./scene.ts";

const thumb = { id: null, name: "👍" };
const inPath = encodeURIComponent("👍");

/** A message with a reaction by someone else, and optionally by the bot. */
function thumbed(scene: Scene, byBot: boolean) {
	const channel = newChannel(scene);
	const message = written(scene, channel);
	const { user } = newMember(scene, scene.guild);
	const { world } = scene.world.simulator;
	world.reactions.add(channel, message, user, thumb);
	if (byBot) world.reactions.add(channel, message, botUser(scene.world), thumb);
	return {
		message,
		user,
		args: { channel_id: channel.id, message_id: message.id },
		path: `/channels/${channel.id}/messages/${message.id}/reactions`,
	};
}

const has = ({ reactions }: Message, id: string) => reactions.some(({ userIds }) => userIds.includes(id));

const emojiId = (unknown: string): IdCase => ({
	unknown,
	foreign: { anyWillDo: "people put the emoji of any guild on messages" },
});

const foreignEmoji = refusedByBot("There is no emoji", ({ world, other }) => {
	const { emojis } = world.simulator.world;
	return emojis.add(other, adaIn(world), { name: "pan" }).id;
});

const manage = inChannel("ManageMessages", "ReadMessageHistory");

export const reactionsRows: Record<string, Row> = {
	add_reaction: {
		ids: { channel_id: channelId, message_id: messageId, emoji: foreignEmoji },
		adds: true,
		person: person.inChannel(["ReadMessageHistory", "AddReactions"]),
		act(scene) {
			const channel = newChannel(scene);
			const message = written(scene, channel);
			return {
				args: { channel_id: channel.id, message_id: message.id, emoji: "👍" },
				request: `PUT /channels/${channel.id}/messages/${message.id}/reactions/${inPath}/@me`,
				done: () => has(message, botUser(scene.world).id),
			};
		},
		needs: inChannel("AddReactions", "ReadMessageHistory"),
		refuses: ["", "x", ":thumbsup:", "<:bread:1>", "👍".repeat(33)].map((emoji) => [
			{ emoji },
			"emoji: expected a Unicode emoji such as 👍",
		]),
	},
	remove_reaction: {
		ids: {
			channel_id: channelId,
			message_id: messageId,
			emoji: emojiId("has not put <:_:"),
			user_id: {
				unknown: "has not put 👍 on the message",
				foreign: { anyWillDo: "only who is on the message can be taken off" },
			},
		},
		person: person.inChannel(["ReadMessageHistory", "ManageMessages"]),
		act(scene) {
			const { message, user, args, path } = thumbed(scene, true);
			return {
				args: { ...args, emoji: "👍", user_id: user.id },
				request: `DELETE ${path}/${inPath}/${user.id}`,
				done: () => !has(message, user.id),
			};
		},
		needs: manage,
		dryRun: /^Would remove 👍 of the user \d+ from the message \d+ in #thing-\d+ \(ID: \d+\)\.$/m,
		refuses: [
			[{ emoji: undefined }, "emoji: is required unless everyone is true"],
			[{ everyone: true }, "user_id: cannot be combined with the argument everyone"],
		],
	},
	get_reactions: {
		ids: {
			channel_id: channelId,
			message_id: messageId,
			emoji: emojiId("Unknown Emoji (code 10014)"),
			after: anyId("it is a cursor"),
		},
		person: person.inChannel(["ReadMessageHistory"]),
		ask(scene) {
			const { user, args, path } = thumbed(scene, true);
			return {
				args: { ...args, emoji: "👍" },
				request: `GET ${path}/${inPath}`,
				answer: [
					"2 user(s) with 👍 on the message",
					`@${user.username} | ID: ${user.id}`,
					`| ID: ${botUser(scene.world).id}`,
				],
			};
		},
		needs: inChannel("ReadMessageHistory"),
	},
};
