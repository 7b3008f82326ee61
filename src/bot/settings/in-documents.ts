// The settings of guilds as a part of guild documents.

import type { Guild } from "discord.js";
import { actAs, currentPerson } from "../../discord/acting-person.ts";
import type { BotSettings } from "../../guild-document/steps.ts";
import type { OwnSettings } from "../guild-documents/read/read-guild.ts";
import { type GuildSettings, type Problem, problemsIn } from "./guild-settings.ts";
import { allKeys, keyOf } from "./keys.ts";
import { requireUsable } from "./of-guild.ts";

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
		change: (guildId, wanted, userId) => settings.change(guildId, wanted, { userId, door: "apply_guild" }),
	};
}
