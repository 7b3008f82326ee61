// Messages: changes by events, excerpts, and the ephemeral responses of bots, which only one person sees.

/** @typedef {import("./server.js").Json} Json */

/** Message flags: EPHEMERAL (only one person sees the message) and LOADING (the bot "is thinking"). */
export const messageFlags = { ephemeral: 64, thinking: 128 };

/** Types of interactions: commands, and what asks a bot for suggestions while a person types. */
export const commandType = 2;
export const suggestionType = 4;

/** The texts of system messages, by message type. @type {Record<number, string>} */
export const systemTexts = {
	6: "pinned a message.",
	7: "joined the guild.",
	8: "boosted the guild.",
	12: "added a channel to follow.",
	18: "started a thread.",
	21: "started this thread.",
	27: "opened a stage.",
	46: "ended a poll.",
};

/**
 * @param {Json[]} messages oldest first
 * @param {string} type
 * @param {Json} data
 * @param {string | undefined} own the person's id
 */
export function messagesAfter(messages, type, data, own) {
	if (type === "MESSAGE_DELETE_BULK")
		return { messages: messages.filter(({ id }) => !data.ids.includes(id)), changed: data.ids };
	const id = data.message_id ?? data.id;
	const known = messages.find((one) => one.id === id);
	if (type === "MESSAGE_CREATE") return { messages: known ? messages : [...messages, data], changed: [id] };
	if (!known) return { messages, changed: [] };
	if (type === "MESSAGE_DELETE") return { messages: messages.filter((one) => one !== known), changed: [id] };
	const after = messageAfter(known, type, data, own);
	return { messages: messages.map((one) => (one === known ? after : one)), changed: after === known ? [] : [id] };
}

/** @param {Json} message @param {string} type @param {Json} data @param {string | undefined} own the person's id */
function messageAfter(message, type, data, own) {
	const { reactions = [] } = message;
	// The event stream belongs to no user, so it does not tell whether the person has reacted. The page knows this
	// already.
	if (type === "MESSAGE_UPDATE") return { ...message, ...data, reactions };
	if (!type.startsWith("MESSAGE_REACTION_")) return message;
	return { ...message, reactions: reactionsAfter(reactions, type, data, own) };
}

/** @param {Json[]} reactions @param {string} type @param {Json} data @param {string | undefined} own the person's id */
function reactionsAfter(reactions, type, data, own) {
	if (type === "MESSAGE_REACTION_REMOVE_ALL") return [];
	const isSame = (/** @type {Json} */ { emoji }) => emojiKey(emoji) === emojiKey(data.emoji);
	if (type === "MESSAGE_REACTION_REMOVE_EMOJI") return reactions.filter((one) => !isSame(one));
	const change = type === "MESSAGE_REACTION_ADD" ? 1 : -1;
	const known = reactions.find(isSame);
	if (!known) return change < 0 ? reactions : [...reactions, { emoji: data.emoji, count: 1, me: data.user_id === own }];
	const me = data.user_id === own ? change > 0 : known.me;
	const changed = { ...known, count: known.count + change, me };
	return reactions.map((one) => (one === known ? changed : one)).filter(({ count }) => count > 0);
}

/** @param {Json} emoji */
export function emojiKey({ id, name }) {
	return id ? `${name}:${id}` : String(name);
}

/** @param {Json} message */
export function excerptOf(message) {
	const { content = "", embeds = [], attachments = [], mentions = [] } = message;
	const names = new Map(mentions.map((/** @type {Json} */ one) => [`<@${one.id}>`, `@${one.username}`]));
	const plain = content.replaceAll(/<@\d+>/g, (/** @type {string} */ mention) => names.get(mention) ?? mention);
	const text = plain || embeds[0]?.title || embeds[0]?.description;
	if (text) return String(text).replaceAll(/\s+/g, " ").slice(0, 200);
	if (attachments.length > 0) return "a file";
	return systemTexts[message.type] ?? "a message without text";
}

/** @param {Json} interaction */
export function ephemeralMessages(interaction) {
	const { id, state, reply, follow_ups, application_id, application } = interaction;
	// Discord shows only commands as sent before the bot responds.
	if (interaction.type === suggestionType || (interaction.type !== commandType && state === "waiting")) return [];
	if (state === "acknowledged")
		return [reply, ...follow_ups].filter((one) => one && !one.deleted && one.flags & messageFlags.ephemeral);
	const author = { id: application_id, username: application, bot: true };
	const content = state === "failed" ? "The application did not respond" : "";
	const flags = messageFlags.ephemeral | (content ? 0 : messageFlags.thinking);
	return [{ id, author, timestamp: timeOf(id), content, flags }];
}

/** https://discord.com/developers/docs/reference#snowflakes @param {string} id */
function timeOf(id) {
	return new Date(Number(BigInt(id) >> 22n) + 1_420_070_400_000).toISOString();
}
