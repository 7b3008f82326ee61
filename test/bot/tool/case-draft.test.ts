// The case of a call whose tool and action both say what it is about.

import { expect, test } from "bun:test";
import { type CaseDraft, completed } from "../../../src/bot/tool/case-record.ts";

const ban: CaseDraft = { action: "ban", userIds: ["1"] };
const more: CaseDraft = { action: "warn", userIds: ["2"], messageIds: ["3"], channelIds: ["4"] };

test.each<[string, CaseDraft | undefined, CaseDraft | undefined, unknown]>([
	["gets the messages and channels that it lacks", ban, more, { ...ban, messageIds: ["3"], channelIds: ["4"] }],
	["keeps its own", { ...ban, messageIds: [], channelIds: ["9"] }, more, { ...ban, messageIds: [], channelIds: ["9"] }],
	["is the tool's alone", ban, undefined, ban],
	["is the other one if the tool has none", undefined, more, more],
	["does not exist without either", undefined, undefined, undefined],
])("it %s", (_, draft, other, expected) => {
	expect(completed(draft, other)).toEqual(expected as never);
});
