// The settings of guilds as a part of guild documents.

import type { Guild } from "discord.js";
import { actAs, actAsMember, currentPerson } from "../../discord/acting-person.ts";
import { fetchMember } from "../../discord/find.ts";
import type { BotSettings } from "../../guild-document/steps.ts";
import type { OwnSettings } from "../guild-documents/read/read-guild.ts";
import { type GuildSettings, type Problem, problemsIn } from "./guild-settings.ts";
import { allKeys, keyOf } from "./keys.ts";
import { referencesIn, requireUsable } from "./of-guild.ts";

const keys: BotSettings["keys"] = new Map(
	allKeys.map((key) => {
		const { to } = keyOf(key);
		return [key, to === "given role" ? "role" : to];
	}),
);

export function settingsInDocuments(settings: GuildSettings): OwnSettings {
	return {
		async read(guild: Guild) {
			await settings.ready();
			const person = currentPerson();
			const { stored } = settings.state(guild.id);
			return {
				stored,
				keys,
				mistakesIn: (wanted) => problemsIn(() => settings.changes(guild.id, wanted)),
				check(changed) {
					let warnings: readonly Problem[] = [];
					const work = () => {
						warnings = requireUsable(guild, stored, changed);
					};
					return { refused: problemsIn(() => (person ? actAs(person, work) : work())), warnings };
				},
			};
		},
		async change(guild, wanted, by) {
			const person = by === undefined ? undefined : await fetchMember(guild, by);
			if (by !== undefined && !person?.permissions.has("Administrator"))
				return "who began the job is not an administrator of the guild any more";
			// Discord's events about what the job made may not have arrived yet.
			for (const { to, id } of referencesIn(wanted)) await (to === "channel" ? guild.channels : guild.roles).fetch(id);
			const check = () => requireUsable(guild, settings.state(guild.id).stored, wanted);
			const problems = problemsIn(() => (person ? actAsMember(person, check) : check()));
			if (problems.length > 0) return problems.map(({ key, message }) => `${key}: ${message}`).join("; ");
			await settings.change(guild.id, wanted, { userId: by ?? null, door: "apply_guild" });
			return undefined;
		},
	};
}
