// Whether a channel that moves follows its new category, where the document changes roles as well.

import { expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { readDocument } from "../../src/guild-document/format/document.ts";
import { difference } from "../../src/guild-document/steps/difference.ts";
import { guildState, idOf } from "./state.ts";

const hidden = { id: idOf(1), type: 0, allow: "0", deny: String(PermissionFlagsBits.ViewChannel) };

test.each([
	["a role that may not see it in the end", [], true],
	["a role that the document lets see channels", ["VIEW_CHANNEL"], false],
])("a synced channel is moved away from what hides it from %s", (_, permissions, follows) => {
	const state = guildState({
		everyone: [],
		roles: [{ id: 1, name: "Guests" }],
		channels: [
			{ id: 50, name: "Staff", type: ChannelType.GuildCategory, permission_overwrites: [hidden] },
			{ id: 51, name: "plans", parent: 50, permission_overwrites: [hidden] },
			{ id: 60, name: "Open", type: ChannelType.GuildCategory },
		],
	});
	const document = readDocument({
		version: 1,
		roles: [{ name: "Guests", permissions }],
		categories: [{ name: "Open", channels: [{ name: "plans", id: idOf(51) }] }],
	});
	const { steps } = difference(document, state, { prune: false });
	expect(steps.some((step) => step.follows ?? false)).toBe(follows);
});

test("a plan shows the access of a category once, and of channels that follow it only what differs", () => {
	const own = { id: idOf(1), type: 0, allow: String(PermissionFlagsBits.SendMessages), deny: "0" };
	const state = guildState({
		roles: [{ id: 1, name: "Guests" }],
		channels: [
			{ id: 51, name: "plans" },
			{ id: 52, name: "notes", permission_overwrites: [own] },
			{ id: 53, name: "muted", permission_overwrites: [{ ...own, id: idOf(2), type: 1 }] },
		],
	});
	const channels = ["plans", "notes", "muted"].map((name, index) => ({
		name,
		id: idOf(51 + index),
		lock_permissions: true,
	}));
	const overwrites = [{ role: "Guests", deny: ["SEND_MESSAGES"] }];
	const document = readDocument({ version: 1, categories: [{ name: "Archive", overwrites, channels }] });
	const { steps } = difference(document, state, { prune: false });
	const access = ({ changes }: (typeof steps)[number]) => changes.filter(({ field }) => field.startsWith("access of "));
	expect(
		Object.fromEntries(steps.filter(({ kind }) => kind !== "role").map((step) => [step.name, access(step)])),
	).toEqual({
		Archive: [{ field: "access of Guests", after: "-SEND_MESSAGES" }],
		plans: [],
		notes: [{ field: "access of Guests", before: "SEND_MESSAGES", after: "-SEND_MESSAGES" }],
		muted: [{ field: `access of ${idOf(2)}`, before: "SEND_MESSAGES", after: "none" }],
	});
});
