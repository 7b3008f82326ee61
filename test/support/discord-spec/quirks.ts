// Where the exchanges in the tests may differ from Discord's OpenAPI document, with the reason. Nothing else may differ.

import type { Exchange } from "../../../src/simulator/rest/router.ts";

interface Quirk {
	/** Matches "OPERATION: path: problem". */
	readonly problem: RegExp;
	readonly reason: string;
}

const quirks: readonly Quirk[] = [
	// Where the document is wrong or incomplete.
	{
		problem:
			/^\w+ \/(guilds\/\{guild_id\}\/(roles|channels)|channels|applications)\b.*: request(\[\])?\.(permissions|default_member_permissions|(permission_overwrites\[\]\.)?(allow|deny)): expected number, given "\d+"$/,
		reason:
			"the document types permissions as integers; strings since API v8, as they exceed 2^53 (Topics, Permissions)",
	},
	{
		problem: /(request|response\S*)\.message_reference\.type: expected literal, given 1$/,
		reason: "the document knows replies only; forwards are type 1 (Message Resource, Message Reference Types)",
	},
	{
		problem: /CHANNELS?\b.*: (request|response(\[\])?)\.type: expected literal, given 16$/i,
		reason: "the document lacks GUILD_MEDIA, type 16 (Channel Resource, Channel Types)",
	},
	{
		problem: /: response\S*\.features\[\]: expected literal, given "ENHANCED_ROLE_COLORS"$/,
		reason: "the document lacks the feature (Guild Resource, Guild Features: ENHANCED_ROLE_COLORS)",
	},
	{
		problem: /: response 4\d\d\.errors(\.\*)*\._errors\[\]\.code: expected number, given "[A-Z\d_]+"$/,
		reason:
			"the document types the code of a field's error as a number; it is a name such as BASE_TYPE_REQUIRED (Reference, Error Messages)",
	},
	{
		problem: /: response 429\.code: missing$/,
		reason:
			"the document requires a code; only some limits have one (Topics, Rate Limits, Rate Limit Response Structure)",
	},
	{
		problem: /: request\S*\.components\[\]\.emoji\.animated: unknown key$/,
		reason: "the document lacks it (Component Reference, Button Structure: name, id, and animated)",
	},
	{
		problem: /^PUT \/guilds\/\{guild_id\}\/bans\/\{user_id\}: query\.delete_message_seconds: unknown parameter$/,
		reason: "the document lacks it; discord.py sends it (http.py, ban)",
	},
	{
		problem: /: request\.embeds\[\]\.\S+: expected string, given "( |\\n)/,
		reason: "the document measures the texts of embeds untrimmed (Message Resource, Embed Limits)",
	},
	{
		problem: /^PATCH \/users\/@me: request\.username: missing$/,
		reason: "the document requires it; all parameters are optional (User Resource, Modify Current User)",
	},
	// What discord.js sends in excess. Discord ignores unknown keys.
	{
		problem:
			/^(PATCH \/(channels|webhooks)\/.*\/messages\/|POST \/(webhooks|interactions|channels\/\{channel_id\}\/threads)\b).*: request(\.data|\.message)?\.(tts|enforce_nonce): unknown key$/,
		reason: "discord.js sends tts and enforce_nonce with every message (structures/MessagePayload.js, resolveBody)",
	},
	{
		problem: /^PATCH \/webhooks\/\{webhook_id\}\/\{webhook_token\}\/messages\/\S+: request\.username: unknown key$/,
		reason: "discord.js repeats the webhook's name in edits (structures/MessagePayload.js, resolveBody)",
	},
	{
		problem: /^POST \/channels\/\{channel_id\}\/messages\/\{message_id\}\/threads: request\.type: unknown key$/,
		reason: "discord.js sends the type that follows from the channel (managers/GuildTextThreadManager.js, create)",
	},
	{
		problem: /^PATCH \/guilds\/\{guild_id\}: request\.reason: unknown key$/,
		reason: "discord.js sends the reason in the body and in its header (structures/Guild.js, edit)",
	},
	{
		problem: /^PATCH \/guilds\/\{guild_id\}\/members\/\{user_id\}: request\.communicationDisabledUntil: unknown key$/,
		reason:
			"discord.js sends its own option beside communication_disabled_until (managers/GuildMemberManager.js, edit)",
	},
	{
		problem: /^PUT \/channels\/\{channel_id\}\/permissions\/\{overwrite_id\}: request\.id: unknown key$/,
		reason: "discord.js sends the id that is in the path (managers/PermissionOverwriteManager.js, upsert)",
	},
];

/** Routes of the simulator that Discord's document does not have, with the reason. */
export const undocumentedRoutes: ReadonlyMap<string, string> = new Map([
	["POST /interactions", "how a person's client uses a command or button; the document has what bots use"],
	["POST /invites/:invite_code", "how a person joins; the document is for bots"],
	[
		"PATCH /guilds/:guild_id/members/@me/nick",
		"deprecated; the document lacks it (Guild Resource, Modify Current User Nick)",
	],
	["POST /oauth2/token", "the document lacks it (Topics, OAuth2)"],
	["POST /oauth2/token/revoke", "the document lacks it (Topics, OAuth2)"],
]);

/** Kinds of injected faults that replace the response with one that Discord's document does not have, with the reason. */
export const exemptFaults: ReadonlyMap<Exchange["fault"], string> = new Map([
	["fail", "5xx are not documented"],
	["answer", "any response, such as a proxy's page or a damaged one"],
] as const);

export function isQuirk(problem: string): boolean {
	return quirks.some((quirk) => quirk.problem.test(problem));
}
