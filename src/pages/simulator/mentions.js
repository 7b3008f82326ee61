// People, roles and channels: they complete while a person types, and become Discord's markup when sent.
// https://docs.discord.com/developers/reference#message-formatting

import { shownName, world } from "./world.js";

/** `text` is what people write. @typedef {{ text: string, markup: string, names: string[] }} Mention */

/** Everything in the open guild that can be mentioned. @returns {Mention[]} */
function mentionable() {
	if (!world.view) return [];
	const { guild, members, channels, threads } = world.view;
	const roles = guild.roles.filter((/** @type {any} */ { id, managed }) => id !== guild.id && !managed);
	return [
		...members.map((/** @type {any} */ { user, nick }) => ({
			text: `@${user.username}`,
			markup: `<@${user.id}>`,
			names: [user.username, shownName(user), nick ?? ""],
		})),
		...roles.map((/** @type {any} */ { id, name }) => ({ text: `@${name}`, markup: `<@&${id}>`, names: [name] })),
		...[...channels, ...threads].map(({ id, name }) => ({ text: `#${name}`, markup: `<#${id}>`, names: [name] })),
	];
}

/** The mentions that the end of a text may begin, and where that begins. @param {string} text */
export function completionsOf(text) {
	const [all = "", sign, typed = ""] = /(?<![^\s(])([@#])(\S*)$/.exec(text) ?? [];
	const begins = (/** @type {string} */ name) => name.toLowerCase().startsWith(typed.toLowerCase());
	const found = mentionable().filter((one) => one.text[0] === sign && one.names.some(begins));
	return { start: text.length - all.length, found };
}

/** Replaces what people write by Discord's markup, as its client does. @param {string} content */
export function withMarkup(content) {
	const all = mentionable().sort((a, b) => b.text.length - a.text.length);
	return content.replaceAll(/(?<![^\s(])[@#][^@#]+/g, (part) => {
		const found = all.find(({ text }) => part.startsWith(text) && !/\w/.test(part[text.length] ?? ""));
		return found ? found.markup + part.slice(found.text.length) : part;
	});
}
