// Welcome screens of guilds. Whether one is shown is the guild feature WELCOME_SCREEN_ENABLED.
// https://discord.com/developers/docs/resources/guild#welcome-screen-object

import { AuditLogEvent } from "discord.js";
import { changesBetween } from "../state/audit-log.ts";
import type { Guild, WelcomeScreen } from "../state/entities.ts";
import * as serialize from "../state/serialize.ts";
import { type Attribution, apply, type Changes, type State } from "../state/state.ts";

type WelcomeScreenChanges = Changes<WelcomeScreen & { enabled: boolean }>;

const feature = "WELCOME_SCREEN_ENABLED";

export class WelcomeScreens {
	constructor(private readonly state: State) {}

	/** A guild's welcome screen; undefined if it was never edited. Deleted channels are left out. */
	of({ welcomeScreen, channels }: Guild): WelcomeScreen | undefined {
		if (welcomeScreen === null) return undefined;
		const { description, welcome_channels } = welcomeScreen;
		return { description, welcome_channels: welcome_channels.filter(({ channel_id }) => channels.has(channel_id)) };
	}

	/**
	 * Whether new members see a guild's welcome screen. Without channels it counts as disabled:
	 * https://github.com/discord/discord-api-docs/pull/4344
	 */
	isEnabled(guild: Guild): boolean {
		const count = this.of(guild)?.welcome_channels.length ?? 0;
		return guild.features.includes(feature) && count > 0;
	}

	/**
	 * Edits a guild's welcome screen. Omitted fields keep their values.
	 * A guess (welcome-audit): Discord adds the same entry to the audit log.
	 */
	edit(guild: Guild, changes: WelcomeScreenChanges, by?: Attribution): WelcomeScreen {
		const old = this.of(guild);
		const before = { ...old, enabled: guild.features.includes(feature) };
		const { enabled: wanted = before.enabled, ...texts } = changes;
		const screen: WelcomeScreen = { description: null, welcome_channels: [], ...old };
		apply(screen, texts);
		const enabled = wanted && screen.welcome_channels.length > 0;
		guild.welcomeScreen = screen;
		if (enabled !== before.enabled) {
			const others = guild.features.filter((one) => one !== feature);
			guild.features = enabled ? [...others, feature] : others;
			this.state.dispatchToGuild("GUILD_UPDATE", guild, serialize.guild(guild));
		}
		const logged = changesBetween(before, { ...screen, enabled });
		if (logged.length > 0) this.state.audit(guild, by, AuditLogEvent.GuildUpdate, guild.id, { changes: logged });
		return screen;
	}
}
