// Icons that were not loaded when a guild was exported.

import { expect, test } from "bun:test";
import { readDocument, toYaml } from "../../src/guild-document/format/document.ts";
import { exportDocument } from "../../src/guild-document/read/export.ts";
import { picturesIn } from "../../src/guild-document/read/picture.ts";
import { difference } from "../../src/guild-document/steps/difference.ts";
import { guildState } from "./state.ts";

const hash = "0123456789abcdef0123456789abcdef";
const state = guildState({
	guild: { icon: "icon" },
	roles: [
		{ id: 1, name: "Mods", icon: "other" },
		{ id: 2, name: "Guests" },
	],
});

test("an export without them keeps them", () => {
	const exported = exportDocument(state);
	expect(picturesIn(exported)).toEqual([]);
	const loaded = {
		...state,
		pictures: new Map([
			["icon", hash],
			["other", hash],
		]),
	};
	for (const document of [exported, readDocument(toYaml(exported))])
		for (const now of [state, loaded]) expect(difference(document, now, { prune: true }).steps).toEqual([]);
});

test("an export of a guild without icons removes them", () => {
	const { icon: _, ...settings } = exportDocument(state).settings ?? {};
	const loaded = { ...state, pictures: new Map([["icon", hash]]) };
	const document = { version: 1, omitted: "default", settings } as const;
	const { steps } = difference(document, loaded, { prune: false });
	expect(steps.map(({ id }) => id)).toEqual(["edit settings/settings"]);
});
