// Control of the bots and the gateway, for the holder of the token: restart, stop, start, log, check, and adding a bot.

import { element } from "../dom.js";
import { post } from "./api.js";
import { actionButton, createField, createForm, preformatted, say, showDialog, shown } from "./parts.js";

const maxText = 500_000;

/** @param {string} name */
export function createControls(name) {
	const bot = shown(name, 64);
	/** @param {string} label Also the command. @param {string} [consequence] */
	function button(label, consequence) {
		async function act() {
			const { lines } = await post("/control", { command: label.toLowerCase(), name });
			if (label === "Stop" || label === "Start") {
				// The button that was pressed is hidden from now on.
				update(label === "Stop");
				(label === "Stop" ? start : stop).focus();
			}
			if (label !== "Log" && label !== "Check") say(lines.join(" "));
			else showText(`${label}: ${bot}`, lines.join("\n") || "There are no lines yet.");
		}
		const made = actionButton("button.small", label, act, consequence ? { what: bot, text: consequence } : undefined);
		made.ariaLabel = `${label} ${bot}`;
		return made;
	}
	const restart = button("Restart");
	const stop = button("Stop", "Running calls are finished. Later ones are refused until you start it again.");
	const start = button("Start");
	const own = name === "gateway" ? [restart] : [restart, stop, start];
	/** @param {boolean} isStopped */
	function update(isStopped) {
		for (const one of [restart, stop]) one.hidden = isStopped;
		start.hidden = !isStopped;
	}
	return { content: element("p.buttons", ...own, button("Log"), button("Check")), update };
}

/** @param {string} title @param {string} text */
function showText(title, text) {
	const [invite] = text.match(/^https:\/\/discord\.com\/oauth2\/\S+$/m) ?? [];
	const lines = preformatted(title, text, maxText);
	const link = invite && element("a.button", { href: invite, target: "_blank", rel: "noreferrer" }, "Invite the bot");
	void showDialog("dialog.wide", title, lines, link, element("button", { autofocus: true }, "Close"));
	// The last lines of a log are the latest.
	if (!invite) lines.scrollTop = lines.scrollHeight;
}

export function createAddBot() {
	const name = element("input", { autocomplete: "off", spellcheck: "false", required: true, maxlength: 40 });
	const token = element("input", { type: "password", autocomplete: "off", spellcheck: "false", required: true });
	async function submit() {
		const given = { name: name.value.trim(), token: token.value.trim() };
		token.value = "";
		const { lines } = await post("/control", { command: "add", ...given });
		name.value = "";
		showText(`${shown(given.name, 64)} is added`, lines.join("\n"));
	}
	const fields = element(
		"div.fields",
		createField("bot-name", "Name", "Letters, digits, “_”, “.” and “-”. Clients name the bot by it.", name).content,
		createField(
			"bot-token",
			"Token",
			"From discord.com/developers, page Bot, “Reset Token”. It is sent once, and stored only in the bot's .env.",
			token,
		).content,
	);
	const form = createForm("form", {}, { label: "Add bot", submit }, fields);
	return element("details.panel", element("summary", "Add a bot"), form);
}
