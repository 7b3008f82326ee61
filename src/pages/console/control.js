// Control of the bots and the gateway, for the holder of the token: restart, stop, start, log, check, and adding a bot.

import { element } from "../dom.js";
import { post } from "./api.js";
import { actionButton, createField, createForm, preformatted, say, shown } from "./parts.js";

const maxText = 500_000;

/**
 * Returns buttons for a bot, or without `update` for the gateway, which is not stopped.
 * @param {string} name
 */
export function createControls(name) {
	const bot = shown(name, 64);
	/** @param {string} command */
	const send = (command) => post("/control", { command, name });
	/** @param {string} label @param {string} command @param {string} done @param {string} [consequence] */
	const act = (label, command, done, consequence) =>
		described(
			label,
			async () => {
				await send(command);
				say(`${bot} ${done}.`);
			},
			consequence,
		);
	/** @param {string} label @param {() => Promise<void>} run @param {string} [text] */
	function described(label, run, text) {
		const button = actionButton("button.small", label, run, text ? { what: bot, text } : undefined);
		button.ariaLabel = `${label} ${bot}`;
		return button;
	}
	/** @param {string} label @param {string} command */
	const read = (label, command) =>
		described(label, async () => {
			const { lines } = await send(command);
			showText(`${label}: ${bot}`, lines.join("\n") || "There are no lines yet.");
		});
	const restart = act("Restart", "restart", "runs again");
	const stop = act(
		"Stop",
		"stop",
		"is stopped",
		"Running calls are finished. Later ones are refused until you start it again.",
	);
	const start = act("Start", "start", "is running");
	const isGateway = name === "gateway";
	const content = element(
		"p.buttons",
		restart,
		!isGateway && stop,
		!isGateway && start,
		read("Log", "log"),
		read("Check", "check"),
	);
	return {
		content,
		/** @param {boolean} isStopped */
		update(isStopped) {
			// The button that is hidden would lose the focus.
			const next = document.activeElement === (isStopped ? stop : start) && (isStopped ? start : stop);
			for (const one of [restart, stop]) one.hidden = isStopped;
			start.hidden = !isStopped;
			if (next) next.focus();
		},
	};
}

/** @param {string} title @param {string} text */
function showText(title, text) {
	const links = text.match(/^https:\/\/discord\.com\/\S+$/gm) ?? [];
	const dialog = element(
		"dialog.wide",
		{ "aria-labelledby": "shown-text", onclose: () => dialog.remove() },
		element(
			"form",
			{ method: "dialog" },
			element("h2", { id: "shown-text" }, title),
			...links.map((href) => element("a.button", { href, target: "_blank", rel: "noreferrer" }, "Invite the bot")),
			preformatted(title, text, maxText),
			element("p.buttons", element("button", { autofocus: true }, "Close")),
		),
	);
	document.body.append(dialog);
	dialog.showModal();
	const lines = dialog.querySelector("pre");
	// The last lines of a log are the latest.
	if (lines) lines.scrollTop = lines.scrollHeight;
}

/** Returns a closed form for the name and the token of a new bot. */
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
	const hint =
		"From discord.com/developers, page Bot, “Reset Token”. It is sent once, and stored only in the bot's .env.";
	return element(
		"details.panel",
		element("summary", "Add a bot"),
		createForm(
			"form",
			{},
			{ label: "Add bot", submit },
			element(
				"div.fields",
				createField("bot-name", "Name", "Letters, digits, “_”, “.” and “-”. Clients name the bot by it.", name).content,
				createField("bot-token", "Token", hint, token).content,
			),
		),
	);
}
