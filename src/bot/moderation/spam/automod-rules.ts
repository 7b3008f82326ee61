// AutoMod rules for those presets of the setting automod.presets that Discord can do. The name of such a rule has the preset and a
// hash of what the settings ask for, so nothing is stored here, and what a moderator changes in the rule stays until the settings
// change. https://docs.discord.com/developers/resources/auto-moderation

import { type APIAutoModerationRule, DiscordAPIError, type Guild, PermissionFlagsBits, Routes } from "discord.js";
import { GuildChecks } from "../../../discord/connection/session-events.ts";
import { missingForBot } from "../../../discord/permissions.ts";
import { describePlatformError } from "../../../discord/rest/errors.ts";
import { triggerBody, actions as types } from "../../../guild-document/names/automod-rule.ts";
import type { FeatureOptions, Part } from "../../commands/feature.ts";
import { automodPresets, type Values } from "../../settings/keys.ts";
import { Durable, type DurableOptions, NotNow } from "../../store/durable.ts";

const causes: readonly string[] = ["automod.presets", "spam.links", "spam.exempt_roles"];
const ownName = new RegExp(`^Guildhall (${automodPresets.join("|")}) [0-9a-f]{6}$`);
const presetOf = (name: string) => ownName.exec(name)?.[1];
const inviteLink = "discord(?:app)?\\.com/invite/|discord\\.gg/";
const maxMentions = 10;
const maxKeywordLength = 60;

function rulesIn(values: Values) {
	const { "automod.presets": presets, "spam.links": links, "spam.exempt_roles": roles } = values;
	const keyword_filter = links.flatMap((link) => [`*//${link}*`, `*.${link}*`]);
	const triggers = {
		invites: ["keyword", { regex_patterns: [inviteLink] }],
		scam_links: ["keyword", { keyword_filter: keyword_filter.filter((word) => word.length <= maxKeywordLength) }],
		mass_mentions: ["mention_spam", { mention_total_limit: maxMentions }],
	} as const;
	return automodPresets.flatMap((preset) => {
		if (!presets.includes(preset) || (preset === "scam_links" && links.length === 0)) return [];
		const [trigger, trigger_metadata] = triggers[preset];
		const changes = { trigger_metadata, exempt_roles: roles.slice(0, 20) };
		const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(changes)).digest("hex");
		return { preset, trigger, changes: { ...changes, name: `Guildhall ${preset} ${hash.slice(0, 6)}` } };
	});
}

type AutomodRulesOptions = Pick<FeatureOptions, "connection" | "settings" | "log"> & Pick<DurableOptions, "backOffMs">;

export function createAutomodRules({
	connection,
	settings,
	...options
}: AutomodRulesOptions): Required<Omit<Part, "stop">> {
	const checks = new GuildChecks(connection);
	const work = new Durable({
		...options,
		name: "AutoMod rules",
		async scan() {
			const guilds = connection.ready && settings.isLoaded ? checks.due : [];
			return guilds.map((guild) => ({
				key: guild.id,
				failure: "could not set up AutoMod rules",
				fields: { guild: guild.id },
				run: () => checks.run(guild, () => arrange(guild)),
			}));
		},
	});

	async function arrange(guild: Guild): Promise<void> {
		if (settings.state(guild.id).version === 0) return;
		const wanted = rulesIn(settings.of(guild.id));
		if (missingForBot(guild, undefined, PermissionFlagsBits.ManageGuild) !== 0n) {
			if (wanted.length > 0) throw new NotNow();
			return settings.note(guild.id, []);
		}
		const { rest, user } = guild.client;
		const rules = (await rest.get(Routes.guildAutoModerationRules(guild.id))) as APIAutoModerationRule[];
		const own = rules.filter(({ creator_id, name }) => creator_id === user.id && presetOf(name));
		for (const { id, name } of own)
			if (!wanted.some(({ preset }) => preset === presetOf(name)))
				await rest.delete(Routes.guildAutoModerationRule(guild.id, id));
		const problems: { key: string; message: string }[] = [];
		for (const { preset, trigger, changes } of wanted) {
			const rule = own.find(({ name }) => presetOf(name) === preset);
			if (rule?.name === changes.name) continue;
			const body = { ...changes, ...triggerBody(trigger), enabled: true, actions: [{ type: types.block_message }] };
			try {
				if (rule) await rest.patch(Routes.guildAutoModerationRule(guild.id, rule.id), { body: changes });
				else await rest.post(Routes.guildAutoModerationRules(guild.id), { body });
			} catch (error) {
				if (!(error instanceof DiscordAPIError) || error.status === 401) throw error;
				problems.push({ key: "automod.presets", message: `${preset}: ${describePlatformError(error)}` });
			}
		}
		settings.note(guild.id, problems);
	}

	return {
		attach: (client) => checks.attach(client, work.retryAll, work.wake),
		start() {
			settings.onChange((guildId, changed) => {
				if (changed?.changes.every(({ key }) => !causes.includes(key))) return;
				checks.repeat(guildId);
				work.wake();
			});
		},
		close: () => work.close(),
	};
}
