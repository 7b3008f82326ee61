// A job compares the guild again after each step. What it has made must not pass for what was there before.

import { expect, test } from "bun:test";
import { ChannelType } from "discord.js";
import { readDocument } from "../../src/guild-document/format/document.ts";
import { difference } from "../../src/guild-document/steps/difference.ts";
import type { Step } from "../../src/guild-document/steps.ts";
import { guildState, idOf } from "./state.ts";

test("the first channel that a job makes does not decide the kind of another one", () => {
	const document = readDocument({
		version: 1,
		channels: [{ name: "talk", kind: "voice", key: "talk aloud" }, { name: "talk" }],
	});
	const planned = difference(document, guildState(), { prune: false }).steps;
	const typeOf = ({ request }: Step) => Object(request(new Map()).body).type;
	const first = planned.find((step) => typeOf(step) === ChannelType.GuildVoice)?.placeholder;
	const left = difference(
		document,
		guildState({ channels: [{ id: 51, name: "talk", type: ChannelType.GuildVoice }] }),
		{ prune: false, ids: new Map([[first ?? "", idOf(51)]]) },
	).steps;
	expect(left.map(typeOf)).toEqual([ChannelType.GuildText]);
	expect(left.map(({ id }) => id)).toEqual(planned.flatMap(({ id, placeholder }) => (placeholder === first ? [] : id)));
});
