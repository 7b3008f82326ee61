// What no guild of the simulator has: stickers, templates and a vanity URL. Reading them says so; making them is not simulated.
// https://discord.com/developers/docs/resources/sticker, /guild-template
//
// A gap: There are no stickers, templates and vanity URLs, and reading them says so. The widget has settings and
// nothing else; integrations are the bots of a guild.

import { apiError } from "../errors.ts";
import { route } from "../route.ts";

function unknownSticker(): never {
	throw apiError("UnknownSticker");
}

export const absentRoutes = [
	route("GET /guilds/:guild_id/stickers", () => []),
	route("GET /guilds/:guild_id/stickers/:sticker_id", unknownSticker),
	route("GET /stickers/:sticker_id", unknownSticker),
	route("GET /guilds/:guild_id/templates", { needs: "ManageGuild", run: () => [] }),
	route("GET /guilds/templates/:template_code", () => {
		throw apiError("UnknownGuildTemplate");
	}),
	route("GET /guilds/:guild_id/vanity-url", { needs: "ManageGuild", run: () => ({ code: null, uses: 0 }) }),
];
