// The identity of a step: it stays the same while the things to which the step refers are created, so that a job that
// reads the guild again finds the steps of its plan.

import { beforeAll, describe, expect, test } from "bun:test";
import type { GuildDocument } from "../../src/guild-document/format/document.ts";
import { difference } from "../../src/guild-document/steps/difference.ts";
import type { Step } from "../../src/guild-document/steps.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import type { Guild } from "../../src/simulator/world/state/entities.ts";
import { build, carryOut, pictures, startGuilds, stateOf } from "./simulated.ts";

const [picture = "", otherPicture = ""] = pictures.keys();
const scheduled_start_time = "2999-01-01T00:00:00.000Z";

/** What the guild has before. */
const existing: GuildDocument = {
	version: 1,
	omitted: "default",
	everyone: ["VIEW_CHANNEL", "SEND_MESSAGES"],
	roles: [{ name: "Old" }],
	emojis: [{ name: "old", picture }],
	channels: [
		{ name: "rules" },
		{ name: "lounge" },
		{ name: "old-text" },
		{ name: "old-forum", kind: "forum" },
		{ name: "old-voice", kind: "voice" },
	],
	categories: [{ name: "Old things", channels: [] }],
	automod: [{ name: "Old rule", trigger: "spam", actions: ["block_message"] }],
	events: [{ name: "Old event", entity_type: "voice", channel: "old-voice", scheduled_start_time }],
	webhooks: [{ name: "Old hook", channel: "old-text" }],
};

/** Everything that can refer to a thing refers to a new one. `idOf` returns the id of an existing thing. */
const changed = (idOf: (name: string) => string, memberId: string): GuildDocument => ({
	version: 1,
	settings: {
		community: true,
		verification_level: "LOW",
		explicit_content_filter: "ALL_MEMBERS",
		rules_channel: "rules",
		public_updates_channel: "updates",
		afk_channel: "New voice",
		// Its key in an export becomes "New things/…" when the voice channel of this name is created.
		system_channel: idOf("lounge"),
	},
	roles: [{ name: "New" }, { name: "Old" }],
	emojis: [
		{ name: "new", picture: otherPicture, roles: ["New"] },
		{ name: "old", roles: ["New"] },
	],
	channels: [
		{ name: "updates", overwrites: [{ role: "New", allow: ["SPEAK"] }] },
		{ name: "rules" },
		{ name: "old-forum", kind: "forum", default_reaction: ":new:" },
		{ name: "old-voice", kind: "voice" },
		...["one", "two", "three", "four", "five"].map((name) => ({ name })),
	],
	categories: [
		{
			name: "New things",
			overwrites: [{ role: "New", allow: ["SEND_MESSAGES"] }],
			channels: [
				{ name: "old-text", id: idOf("old-text"), overwrites: [{ role: "New", deny: [] }] },
				{ name: "new-forum", kind: "forum", tags: [{ name: "Tag", emoji: ":new:" }] },
				{ name: "lounge", kind: "voice" },
				{ name: "New voice", kind: "voice" },
				{ name: "talk", kind: "voice", key: "talk aloud" },
				// Not a second voice channel once the first one exists.
				{ name: "talk" },
			],
		},
		{ name: "Old things", overwrites: [{ role: "New", allow: ["SEND_MESSAGES"] }], channels: [] },
	],
	automod: [
		{
			name: "New rule",
			trigger: "keyword",
			keyword_filter: ["spoiler"],
			actions: ["send_alert_message"],
			alert_channel: "updates",
			exempt_roles: ["New"],
		},
		{ name: "Old rule", trigger: "spam", exempt_roles: ["New"] },
	],
	events: [
		{ name: "New event", entity_type: "voice", channel: "New voice", scheduled_start_time },
		{ name: "Old event", entity_type: "voice", channel: "New voice", scheduled_start_time },
	],
	webhooks: [
		{ name: "New hook", channel: "updates" },
		{ name: "Old hook", id: idOf("Old hook"), channel: "updates" },
	],
	welcome_screen: { enabled: true, channels: [{ channel: "one", description: "Here", emoji: ":new:" }] },
	onboarding: {
		enabled: true,
		default_channels: [...["updates", "rules", "one", "two", "three", "four", "five"]],
		prompts: [{ title: "Why?", options: [{ title: "So", roles: ["New"] }] }],
	},
	members: [{ id: memberId, roles: ["New"] }],
});

/** The steps that refer to a thing which the plan creates. */
const referring = [
	"create emoji",
	"edit emoji",
	"create category",
	"edit category",
	"create channel",
	"edit channel",
	"order role",
	"order channel",
	"edit settings",
	"create automod",
	"edit automod",
	"create event",
	"edit event",
	"create webhook",
	"edit webhook",
	"edit welcome_screen",
	"edit onboarding",
	"assign member",
];
const kindOf = ({ action, kind }: Step) => `${action} ${kind}`;

/** What the checks and the comparison with the plan look at, with placeholders for the ids of what was created. */
function comparable(step: Step, ids: ReadonlyMap<string, string>): unknown {
	const { id, kind, action, guard, changes } = step;
	const text = JSON.stringify({ guard, changes: changes.map(({ field, after }) => [field, after]) }, (_, value) =>
		typeof value === "bigint" ? String(value) : value,
	);
	const named = [...ids].reduce((result, [placeholder, id]) => result.replaceAll(id, placeholder), text);
	return { id, kind, action, ...JSON.parse(named) };
}

describe("with a reference to a new thing", () => {
	/** The steps of the plan, and those that were left after each of them was carried out. */
	let plan: readonly Step[] = [];
	const left: { steps: readonly Step[]; ids: Map<string, string> }[] = [];

	async function walk(simulator: Simulator, guild: Guild) {
		await build(simulator, guild, existing);
		const { channels, webhooks = [] } = await stateOf(simulator, guild);
		const named = new Map([...channels, ...webhooks].map(({ id, name }) => [name, id]));
		const [, member = ""] = guild.members.keys();
		const document = changed((name) => named.get(name) ?? "", member);
		const ids = new Map<string, string>();
		const read = async () => difference(document, await stateOf(simulator, guild), { prune: false, ids }).steps;
		plan = await read();
		for (const step of plan) {
			await carryOut(simulator, step, ids);
			left.push({ steps: await read(), ids: new Map(ids) });
		}
	}

	beforeAll(async () => {
		await using simulator = await startGuilds();
		await walk(simulator, simulator.guild("First"));
	});

	test("the table names every kind of step", () => {
		const found = plan.filter(({ needs, guard }) => needs.length > 0 || guard.moves?.some((id) => id.startsWith("+")));
		expect([...new Set(found.map(kindOf))].sort()).toEqual(referring.toSorted());
	});

	test.each(referring)("%s stays the same step", (what) => {
		const own = plan.filter((step) => kindOf(step) === what);
		expect(own).not.toBeEmpty();
		for (const [index, { steps, ids }] of left.entries())
			for (const planned of own) {
				const now = steps.find(({ id }) => id === planned.id);
				const isDue = plan.indexOf(planned) > index;
				if (planned.action === "order") {
					// Where new things are created decides what is left to be ordered.
					const isOther = ({ id }: Step) => id !== planned.id;
					expect(steps.filter((one) => kindOf(one) === what && isOther(one))).toBeEmpty();
				} else if (!isDue) expect(now?.id).toBeUndefined();
				else expect(now && comparable(now, ids)).toEqual(comparable(planned, ids));
			}
	});

	test("nothing is left or new at the end", () => {
		expect(left.at(-1)?.steps.map(({ id }) => id)).toEqual([]);
	});
});
