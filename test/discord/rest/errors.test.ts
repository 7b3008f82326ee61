// What models and people read of errors of Discord's API.

import { expect, test } from "bun:test";
import { DiscordAPIError } from "discord.js";
import { toToolError } from "../../../src/discord/rest/errors.ts";
import { PlatformBusy, PlatformFailure, PlatformTimeout } from "../../../src/discord/rest/rest.ts";
import { twoFactorAdvice } from "../../../src/discord/two-factor.ts";
import { render } from "../../../src/texts/texts.ts";

const refused = (code: number, message: string, status = 403) =>
	new DiscordAPIError({ code, message }, code, status, "PATCH", "https://discord.com/api/v10/x", {});

test.each<[string, Error, string, string, string]>([
	[
		"a missing permission",
		refused(50013, "Missing Permissions"),
		"Discord API error: Missing Permissions (code 50013). The bot lacks a permission for this, or the target ranks above it. An administrator has to change the bot's role.",
		"Discord refuses: the bot lacks a permission, or its role is too low. Nothing was done.",
		"Discord lehnt das ab: Dem Bot fehlt eine Berechtigung, oder seine Rolle steht zu weit unten. Es ist nichts passiert.",
	],
	[
		"an unknown message",
		refused(10008, "Unknown Message", 404),
		"Discord API error: Unknown Message (code 10008). There is no such message in this channel. Use get_recent_messages (read_private_messages for a direct one) to find messages.",
		"There is no such message in this channel. Nothing was done.",
		"Diese Nachricht gibt es in diesem Kanal nicht. Es ist nichts passiert.",
	],
	[
		"a guild's two-factor authentication",
		refused(60003, "Two factor is required for this operation"),
		`Discord API error: Two factor is required for this operation (code 60003). ${twoFactorAdvice} Nothing was done.`,
		"This server requires two-factor authentication of moderators. The account that owns the bot's application has to enable it. Nothing was done.",
		"Dieser Server verlangt von Moderatoren die Zwei-Faktor-Authentifizierung. Das Konto, dem die Anwendung des Bots gehört, muss sie einschalten. Es ist nichts passiert.",
	],
	[
		"another code",
		refused(12345, "Some *new* error\nof Discord", 400),
		"Discord API error: Some *new* error; of Discord (code 12345). Nothing was done.",
		"Discord refuses: Some \\*new\\* error; of Discord (code 12345). Nothing was done.",
		"Discord lehnt das ab: Some \\*new\\* error; of Discord (Code 12345). Es ist nichts passiert.",
	],
	[
		"a token that Discord refuses",
		refused(0, "401: Unauthorized", 401),
		"Discord API error: 401 Unauthorized. Discord refused the bot's token; the bot's operator has to replace it. Nothing was done.",
		"Discord refused the bot's token: the bot's operator has to replace it. Nothing was done.",
		"Discord nimmt das Token des Bots nicht an: Der Betreiber des Bots muss es ersetzen. Es ist nichts passiert.",
	],
	[
		"a rate limit",
		new PlatformBusy("rate limit", 59_100),
		"Discord API error: Discord's rate limit allows this request again in 60 s. Nothing was done. Call again after this time, not before.",
		"Discord asks the bot to wait: try again in 60 seconds. Nothing was done.",
		"Discord lässt den Bot warten: Versuch es in 60 Sekunden noch einmal. Es ist nichts passiert.",
	],
	[
		"a timeout with an unknown outcome",
		new PlatformTimeout("unknown"),
		"Discord API request timed out. The bot had sent the request to Discord: whether it took effect is unknown. Check before repeating it.",
		"Discord did not answer in time. Whether it was done is not known: look before you repeat it.",
		"Discord hat nicht rechtzeitig geantwortet. Ob es passiert ist, ist nicht bekannt: Sieh nach, bevor du es wiederholst.",
	],
	[
		"a server's error before which nothing was sent",
		new PlatformFailure("not sent", new Error("503 Service Unavailable")),
		"Discord API error: 503 Service Unavailable. The bot did not send the request to Discord: nothing was done. Try again later.",
		"Discord cannot be reached at the moment. Nothing was done.",
		"Discord ist gerade nicht erreichbar. Es ist nichts passiert.",
	],
])("%s has a text for models, and one for people", (_, error, models, english, german) => {
	const known = toToolError(error);
	expect(known?.message).toBe(models);
	expect(render(known?.said ?? "", "en")).toBe(english);
	expect(render(known?.said ?? "", "de")).toBe(german);
});

test("a bug has neither", () => {
	expect(toToolError(new TypeError("x is undefined"))).toBeUndefined();
});
