// Answers `where`: who matches, why, and of whom it is unknown.

import type { GuildMember } from "discord.js";
import { LruMap } from "../../lib/lru-map.ts";
import type { Store } from "../store/store.ts";
import type { People } from "../tool/context.ts";
import { type Answers, type Asking, loaders } from "./facts.ts";
import { type Condition, conditionsIn, evaluate, WhereParser } from "./where.ts";

const maxPreviews = 50;
const order = Object.keys(loaders);

export function createPeople({ sql }: Pick<Store, "sql">): People {
	return {
		previews: new LruMap(maxPreviews),
		async find(context, { where, nowMs, ids, reads }) {
			const tree = new WhereParser(where, nowMs).parse();
			const conditions = conditionsIn(tree);
			const { cache } = context.guild.members;
			const people = ids ? ids.flatMap((id) => cache.get(id) ?? []) : [...cache.values()];
			const asking: Asking = { ...context, sql, nowMs, reads, conditions, notes: new Set() };
			const answers = new Map<Condition, Answers>();
			const isMatch = (member: GuildMember) => evaluate(tree, (one) => answers.get(one)?.(member).is);
			let open = people;
			for (const one of conditions.toSorted((a, b) => order.indexOf(a.field) - order.indexOf(b.field))) {
				if (open.length === 0) break;
				answers.set(one, await loaders[one.field](one, asking, open));
				open = open.filter((member) => isMatch(member) === undefined);
			}
			const found = Map.groupBy(people, isMatch);
			return {
				matches: found.get(true) ?? [],
				unknown: found.get(undefined) ?? [],
				factsOf: (member) =>
					[...new Set(conditions.flatMap((one) => answers.get(one)?.(member).text ?? []))].join(", "),
				notes: [...asking.notes],
			};
		},
	};
}
