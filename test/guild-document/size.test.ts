// How large exports are: they are passed to assistants, which pay for each byte.

import { expect, test } from "bun:test";
import { OverwriteType } from "discord.js";
import { exportDocument } from "../../src/guild-document/export.ts";
import { bitsOfNames } from "../../src/guild-document/from-api.ts";
import { guildId, guildState, idOf } from "./state.ts";

const everyone = [
	...["VIEW_CHANNEL", "SEND_MESSAGES", "ADD_REACTIONS", "EMBED_LINKS"],
	...["ATTACH_FILES", "READ_MESSAGE_HISTORY", "CONNECT", "SPEAK", "USE_VAD"],
	...["CREATE_INSTANT_INVITE", "CHANGE_NICKNAME", "USE_EXTERNAL_EMOJIS"],
	...["CREATE_PUBLIC_THREADS", "SEND_MESSAGES_IN_THREADS", "STREAM"],
];
const moderation = [
	...["KICK_MEMBERS", "BAN_MEMBERS", "MANAGE_MESSAGES", "MODERATE_MEMBERS"],
	...["MUTE_MEMBERS", "MOVE_MEMBERS", "MANAGE_THREADS", "VIEW_AUDIT_LOG"],
];

test("a guild of 100 channels and 50 roles exports to less than 40 KB", () => {
	const overwrite = (id: string, allow: string[], deny: string[] = []) => ({
		...{ id, type: OverwriteType.Role },
		allow: String(bitsOfNames(allow)),
		deny: String(bitsOfNames(deny)),
	});
	const hidden = [
		overwrite(guildId, [], ["VIEW_CHANNEL", "CONNECT"]),
		overwrite(idOf(48), ["VIEW_CHANNEL", "CONNECT"]),
		overwrite(idOf(49), ["VIEW_CHANNEL", "CONNECT", "MANAGE_MESSAGES"]),
	];
	const readOnly = [
		overwrite(guildId, [], ["SEND_MESSAGES", "CREATE_PUBLIC_THREADS"]),
		overwrite(idOf(49), ["SEND_MESSAGES"]),
	];
	const state = guildState({
		everyone,
		roles: Array.from({ length: 50 }, (_, index) => ({
			id: index + 1,
			name: `A usual role ${index}`,
			color: 0x3498db + index,
			hoist: index > 40,
			permissions: index > 45 ? [...everyone, ...moderation] : everyone,
		})),
		channels: Array.from({ length: 10 }, (_, place) => [
			{
				id: 100 + place,
				name: `Category ${place}`,
				type: 4,
				permission_overwrites: place < 3 ? hidden : [],
			},
			...Array.from({ length: 10 }, (_, index) => ({
				id: 200 + 10 * place + index,
				name: `channel-about-something-${place}-${index}`,
				parent: 100 + place,
				type: index > 7 ? 2 : 0,
				topic: index % 3 ? null : "What this channel is for, in one sentence.",
				rate_limit_per_user: index % 5 ? 0 : 5,
				permission_overwrites: index === 0 ? readOnly : place < 3 ? hidden : [],
			})),
		]).flat(),
		webhooks: [],
		automod: [],
		events: [],
	});
	const text = JSON.stringify(exportDocument(state));
	expect(Buffer.byteLength(text)).toBeLessThan(40_000);
	expect(Buffer.byteLength(text)).toBeGreaterThan(10_000);
});
