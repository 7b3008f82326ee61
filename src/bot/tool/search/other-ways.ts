// What people ask for and no tool does: parts of the guild document, commands of people and settings of the operator that do it,
// and what nothing here can do.

import type { TomlSettings } from "../../config/settings.ts";

export interface OtherWay {
	/** For the question in small letters. */
	asked: RegExp;
	/** Tool that does it where the caller has it. */
	unless?: string;
	/** Of a guild document: an example with this part, where the settings are on. */
	document?: string;
	/** Of the guild's settings: an example. */
	setting?: string;
	/** Of people. */
	command?: string;
	/** All have to be on, for the command or for what the bot does by itself. */
	settings?: readonly string[];
	/** Why nothing does it. */
	why?: string;
}

/** The topic itself, not something on Discord that only has it in its name or text: a giveaway, but not a channel for giveaways. */
const about = (topic: RegExp) =>
	new RegExp(
		`^(?!.*\\b(?:channel|categor|message|thread|post|role|emoji|webhook|invite|link)|(?:please )?(?:ban|block|delete|kick|mute|remove|timeout|warn)\\b).*(?:${topic.source})`,
	);

const otherWays: readonly OtherWay[] = [
	{
		asked: /welcome (?:screen|page)/,
		document:
			'{"welcome_screen":{"enabled":true,"description":"…","channels":[{"channel":"rules","description":"…"}]}}',
	},
	{
		asked: /onboard|default channels|channels? .*\bnew.* default|\b(?:ask|questions?) .*\b(?:new|joins?)\b/,
		document:
			'{"onboarding":{"enabled":true,"default_channels":["rules"],"prompts":[{"title":"…","options":[{"title":"…","roles":["Artists"]}]}]}}',
	},
	{
		asked: /\b(?:enable|disable|turn o\w+|activate|switch o\w+|become|make)\b.* community\b/,
		document: '{"settings":{"community":true,"rules_channel":"rules","public_updates_channel":"staff"}}',
	},
	{
		asked: /^(?!.*\bmessages? (?:with|of|that|containing)\b).*(?:\bexplicit|sensitive (?:content|media)|media filter)/,
		document: '{"settings":{"explicit_content_filter":"ALL_MEMBERS"}}',
	},
	{
		asked: /\b(?:join|boost|system) (?:messages?|notices?|notifications?)\b/,
		document: '{"settings":{"system_channel_flags":["SUPPRESS_JOIN_NOTIFICATIONS"]}}',
	},
	{
		asked:
			/\b(?:require|must have|needs?)\b.* tags?\b|default (?:reaction|layout)|gallery (?:layout|mode|view)|\bforum\b.* gallery\b(?! channel)|sort order/,
		document: '{"channels":[{"name":"help","kind":"forum","require_tag":true,"default_layout":"gallery"}]}',
	},
	{
		asked: /voice region|video quality/,
		document: '{"channels":[{"name":"Lounge","kind":"voice","rtc_region":"rotterdam","video_quality":"720p"}]}',
	},
	{
		asked: /\broles?\b.* icon|icon\b.* role|gradient/,
		document: '{"roles":[{"name":"Mods","icon":"🛡️","color":"#8E44AD to #11806A"}]}',
	},
	{
		asked: /auto ?mod|bad words|\bswear|profanity|\bslurs?\b/,
		unless: "set_automod_rule",
		document: '{"automod":[{"name":"Words","trigger":"keyword","keyword_filter":["…"],"actions":["block_message"]}]}',
	},
	{
		asked: /\b(?:create|make|add|plan|schedule|hold|host)\b.* event/,
		unless: "create_scheduled_event",
		document:
			'{"events":[{"name":"…","kind":"external","location":"…","start":"2030-01-31T18:00:00Z","end":"2030-01-31T20:00:00Z"}]}',
	},
	{
		asked: /\b(?:link|connect|verify|pair)\b.* accounts?\b/,
		command: "/verify",
		settings: ["features.game", "game.slash_commands"],
	},
	{
		asked: /\breports?\b.* (?:channel|go to)\b|\bchannel\b.* (?:for|of) reports|let (?:members|people|users) report\b/,
		setting: '{"moderation.reports":"#reports"}',
	},
	{
		asked:
			/\bmod(?:eration)?.?log(?:s|ging)?\b.* (?:channel|go to)\b|\bchannel\b.* (?:for|of) .*\bmod(?:eration)?.?log/,
		setting: '{"moderation.log_channel":"#mod-log"}',
	},
	{
		asked: /\bescalat|automatic(?:ally)?\b.* after .*\bwarn|\bafter (?:\d+|two|three|four|five) warnings?\b/,
		setting: '{"moderation.escalate":["3 warnings in 30d: timeout 1d"]}',
	},
	{ asked: /\bcustom commands?|\bcanned\b|\bfaqs?\b/, setting: '{"tags.faq":"…"}' },
	{ asked: /anti.?spam|hijacked accounts?|\bhoneypots?\b/, setting: '{"spam.on":true,"spam.dry":true}' },
	{ asked: /\breport\b.* to discord/, why: "only people can" },
	{
		asked: /\breport (?:(?:an?|the|some) )?(?:message|user|member|person|post)/,
		command: "/report",
		settings: ["features.moderation"],
	},
	{
		asked: /\broles?[ _](?:menu|button|picker)|reaction roles?|self.?(?:assign|roles?)|\bbuttons?\b.* roles?\b/,
		unless: "create_role_menu",
		document:
			'{"channels":[{"name":"roles","messages":[{"key":"colors","content":"Pick any:","role_menu":{"roles":["Red","Blue"]}}]}]}',
		command: "/rolemenu",
		settings: ["features.moderation"],
	},
	{
		asked:
			/\brole\b.* (?:who|that) joins?\b|\broles?\b.* (?:to|for) (?:all |every )?(?:new|joining) |roles? on join|auto.?role\b/,
		setting: '{"join_role.role":"@Newcomer"}',
	},
	{
		asked: /\b(?:greet|welcome)\b.* (?:new|joins?|members?|people|users?)\b|greeting|welcome messages?\b/,
		setting: '{"welcome.channel":"#welcome"}',
	},
	{
		asked:
			/\b(?:change|set|update|edit|upload|replace|rename)\b.{0,30} (?:avatar|profile|username|bio|pronouns)\b(?! (?:nick|channel|role))/,
		why: "only the account's owner can",
	},
	{
		asked:
			/\b(?:play|stream|record|transcribe|listen)\b.* (?:music|songs?|voice|audio|video|sounds?|calls?|movies?|radio)\b/,
		why: "the bot does not join calls",
	},
	{
		asked: /\b(?:read|see|show|monitor)\b.* (?:dms?|(?:direct|private) messages?)\b.* (?:between|each other)/,
		why: "Discord shows bots only their own direct messages",
	},
	{
		asked:
			/deleted (?:their|his|her) account|read receipt|who (?:has |have )?(?:read|seen|viewed) .*(?:message|post|announcement)|last (?:seen|online)|online status|who (?:has |have )?(?:blocked|invited me)|which (?:other )?servers/,
		why: "Discord does not tell bots",
	},
	{ asked: about(/\bip\b|e-?mail|phone number/), why: "Discord does not tell bots" },
	{
		asked:
			/\b(?:transfer|hand|give)\b.* ownership\b(?!.*\b(?:thread|post|channel))|\b(?:require|enforce|enable|disable|turn|set|change|reset)\b.* (?:two.?factor|2fa|mfa)\b/,
		why: "only the guild's owner can",
	},
	{
		asked: about(
			/\bboost (?:the|our|this|my) |\b(?:buy|gift|give|purchase|pay|get|send)\b.* nitro\b|monetiz|refund|for money/,
		),
		why: "only people can pay",
	},
	{
		asked:
			/\b(?:create|delete|make|start) (?:(?:an?|the|our|this|another|new|whole|entire) )*(?:server|guild)(?: for\b| called\b|\W*$)/,
		why: "only people can",
	},
	{
		asked:
			/\b(?:invite|install|add) (?:an?|another)\b.* bot\b|\b(?:set|change|get|claim)\b.* vanity|\b(?:change|set|upload|update|replace)\b.* (?:server|guild|our|new)\b.{0,12} (?:icon|banner|splash|logo|picture)/,
		why: "people with Manage Server do it in Discord",
	},
	{
		asked: /\b(?:add|upload|create|delete|rename|edit|change|remove|make)\b.* (?:stickers?|soundboard|sounds?)\b/,
		why: "of expressions, tools change only custom emoji",
	},
	{
		asked:
			/\b(?:restore|recover|undelete|bring back|see|show|read|get)\b.* (?:deleted|removed) messages?\b|before (?:the|an|it was) edit/,
		why: "Discord does not keep them",
	},
	{
		asked:
			/\b(?:edit|change|rewrite)\b.* messages? (?:that|which|of|by|from|written)\b.* (?:another|others?|someone|somebody|members?|users?)\b(?! (?:channel|thread))|\b(?:edit|change) (?:another|someone|somebody)\b.* message/,
		why: "only its author can",
	},
	{
		asked:
			/\b(?:send|post|write|publish|announce)\b.* (?:tomorrow|later|at \d|in \d+ ?(?:min|h|day|week)|every (?:day|week|hour)|next week)|^(?:please )?(?:remind\b(?!.* by )|(?:set|create|add) .*\breminders?\b(?! channel))|schedule (?:an? |the )?(?:message|post|announcement)/,
		why: "tools act at once",
	},
	{ asked: /\b(?:backup|back up|export)\b.* (?:messages|chats?|history)/, why: "backups hold no messages" },
	{ asked: /how (?:long|much time)\b.* voice|voice (?:time|minutes|hours)/, why: "it is not recorded" },
	{
		asked: /\b(?:create|add|make)\b.* commands?\b(?! (?:channel|categor|role|thread))/,
		why: "the bot's program defines its commands",
	},
	{
		asked: /\b(?:simulat|rehears)|\bdrill\b|\bsurvive\b|\b(?:what would|test|try)\b.* (?:filter|protection|defen[cs]e)/,
		unless: "rehearse",
	},
	{ asked: /^back up\b|\b(?:create|make|take|start)\b.* backup/, settings: ["backup"] },
	{ asked: /^(?:(?:the|our|list|show|when|was|is|which|latest|newest|last|all) )*backups?\b/, unless: "list_backups" },
	{ asked: /\bopen reports?\b|\breports?\b.* waiting/, unless: "list_reports" },
	{ asked: /\bmoderation cases?\b|\bwas moderated\b/, unless: "list_cases" },
	{ asked: /\bfollow\b.* channel/ },
	{ asked: about(/giveaway|raffle|leaderboard|\bxp\b/) },
];

const nothing = "No tool does this";
export const noMatch = "No tool matches this. Try other words.";

/** Plans a guild document. */
export const documentTool = "plan_guild";

/** Undefined if none fits, or if a tool does it: of `tools`, the caller's, or of those `beyond` the caller's access. */
export function findOtherWay(
	question: string,
	tools: ReadonlySet<string>,
	beyond: ReadonlySet<string>,
): OtherWay | undefined {
	return waysFor(question)
		.filter(({ unless }) => !unless || !(tools.has(unless) || beyond.has(unless)))
		.find(({ document, setting }) => (!document || tools.has(documentTool)) && (!setting || tools.has(settingTool)));
}

/** The tool of `tools` that is known to do what is asked. */
export function toolFor(question: string, tools: ReadonlySet<string>): string | undefined {
	return waysFor(question).find(({ unless }) => unless && tools.has(unless))?.unless;
}

function waysFor(question: string): OtherWay[] {
	const asked = question.toLowerCase().replace(/\s+/g, " ");
	return otherWays.filter((way) => way.asked.test(asked));
}

export const settingTool = "set_settings";

/** For models that set up the bot: most keys with values, so that they need not ask for the keys. */
export const settingExample =
	'All settings go into one call: {"settings":{"welcome.channel":"#hello","welcome.message":"Hi {user}, see #rules","join_role.role":"@New","moderation.log_channel":"#log","moderation.reports":"#staff","moderation.raid":"20 joins in 60s","moderation.escalate":["3 warnings in 30d: timeout 1d"],"spam.on":true,"spam.links":["bad.example"],"spam.timeout":"1d","spam.exempt_roles":["@Mods"],"welcome.ai":false}}. {user} pings the newcomer; without welcome.ai false, an AI may word the greeting; the alarm of a raid comes at the 20th join, in the log. Nothing needs to be read before or after it: names are found; what does not fit, such as a role above the bot or a public channel for reports, is refused before anything is stored; the answer shows each value before and after, and that access was checked. get_settings explains all keys.';

export function hasDocument({ document, settings = [] }: OtherWay, toml: TomlSettings): boolean {
	return document !== undefined && settings.every((path) => isOn(toml, path));
}

/** Of one without a document. */
export function describeWay({ command, settings, why }: OtherWay, toml: TomlSettings): string {
	if (!settings) return `${nothing}${why ? `: ${why}` : ""}.`;
	const off = settings.filter((path) => !isOn(toml, path)).join(" and ");
	const condition = off && `, where its operator turns on ${off} in config.toml`;
	return command
		? `${nothing}. People have the command ${command} of this bot${condition}.`
		: `${nothing}. The bot does it by itself${condition}.`;
}

function isOn(toml: TomlSettings, path: string): boolean {
	return Boolean(path.split(".").reduce<unknown>((value, key) => Object(value)[key], toml));
}
