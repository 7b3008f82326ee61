// The bodies of requests that carry out steps.

import { expect, test } from "bun:test";
import { ChannelFlags } from "discord.js";
import { readDocument } from "../../src/guild-document/format/document.ts";
import { difference } from "../../src/guild-document/steps/difference.ts";
import { guildState, idOf } from "./state.ts";

test.each([
	["without flags", undefined, 0],
	["with a flag of another kind", ChannelFlags.Pinned, ChannelFlags.Pinned],
])("a channel %s gets the flag of its setting, and no other", (_, flags, kept) => {
	const { steps } = difference(
		readDocument({ version: 1, channels: [{ name: "art", spoiler: true }] }),
		guildState({ channels: [{ id: 51, name: "art", flags }] }),
		{ prune: false },
	);
	expect(steps.map((step) => step.request(new Map()))).toEqual([
		{ method: "PATCH", path: `/channels/${idOf(51)}`, body: { flags: kept | ChannelFlags.IsSpoilerChannel } },
	]);
});
