// How large exports are: they are passed to assistants, which pay for each byte.

import { expect, test } from "bun:test";
import { OverwriteType } from "discord.js";
import { readDocument } from "../../src/guild-document/format/document.ts";
import { exportDocument } from "../../src/guild-document/read/export.ts";
import { bitsOfNames } from "../../src/guild-document/read/from-api.ts";
import { difference } from "../../src/guild-document/steps/difference.ts";
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
		id,
		type: OverwriteType.Role,
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
			{ id: 100 + place, name: `Category ${place}`, type: 4, permission_overwrites: place < 3 ? hidden : [] },
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

test("the largest guild with equal names everywhere is compared with its export", () => {
	const state = guildState({
		roles: Array.from({ length: 249 }, (_, index) => ({ id: index + 1, name: "same" })),
		channels: Array.from({ length: 500 }, (_, index) =>
			index < 50
				? { id: 1000 + index, name: "same", type: 4 }
				: { id: 1000 + index, name: "same", parent: 1000 + (index % 50) },
		),
		webhooks: Array.from({ length: 7500 }, (_, index) => ({
			id: idOf(10_000 + index),
			type: 1,
			name: "same",
			channel_id: idOf(1050 + (index % 450)),
		})),
	});
	const exported = readDocument(exportDocument(state));
	expect(difference(exported, state, { prune: true }).steps).toEqual([]);
	const [first, second] = exported.categories ?? [];
	expect([first?.key, second?.key]).toEqual(["same (1)", "same (2)"]);
});
