// The builder of role menus: a message with which members give themselves roles.

import { element } from "../dom.js";
import { post } from "./api.js";
import { busy, named, say, shownLines } from "./parts.js";

/** @typedef {import("./setting-fields.js").Item} Item */

const maxRoles = 25;

/**
 * @param {{ instance: string, guild_id: string }} place
 * @param {() => import("./setting-fields.js").Lists} lists
 */
export function createRoleMenu(place, lists) {
	/** @type {ReturnType<typeof createRow>[]} */
	let rows = [];
	const channel = element("select", { required: true });
	const title = element("input", { maxlength: 256 });
	const text = element("textarea", { rows: 2, maxlength: 2000 });
	const limit = element("select", option("", "Any number"), option("1", "One"));
	const style = element("select", option("select", "Select menu"), option("buttons", "Buttons"));
	const list = element("div.list");
	const preview = element("div.preview", { role: "group", "aria-label": "Preview of the menu" });
	const problem = element("p.problem", { role: "alert" });
	const add = element("button", { onclick: () => addRow().focus() }, "Add a role");
	const send = element("button.main", "Post the menu");
	const form = element(
		"form.list",
		{
			oninput: draw,
			onchange: draw,
			onsubmit(/** @type {Event} */ event) {
				event.preventDefault();
				void busy(send, submit, complain);
			},
		},
		element(
			"div.fields",
			labelled("Channel", channel),
			labelled("Title", title),
			labelled("Text", text),
			labelled("Members choose", limit),
			labelled("Shown as", style),
		),
		list,
		element("p.buttons", add),
		preview,
		problem,
		element("p.buttons", send),
	);
	const content = element(
		"details.panel",
		{ ontoggle: fill },
		element("summary", element("strong", "Role menu")),
		element("p.quiet", "Posts a message with which members give themselves roles."),
		form,
	);

	/** Fills in the lists, with what was chosen. */
	function fill() {
		fillList(channel, lists().channel);
		if (rows.length === 0) addRow();
		for (const one of rows) fillList(one.role, lists().role);
		draw();
	}

	function addRow() {
		const made = createRow(() => {
			rows = rows.filter((one) => one !== made);
			made.content.remove();
			add.focus();
			draw();
		});
		fillList(made.role, lists().role);
		rows.push(made);
		list.append(made.content);
		draw();
		return made.role;
	}

	function draw() {
		const isSelect = style.value === "select";
		add.disabled = rows.length >= maxRoles;
		for (const [index, row] of rows.entries()) row.update(index + 1, isSelect, rows.length > 1);
		const heading = title.value.trim() && element("strong", title.value.trim());
		const items = rows.map(({ role, label, emoji, description }) => {
			const name = role.selectedOptions[0]?.text.replace(/^@/, "") ?? "";
			const shown = [emoji.value.trim(), label.value.trim() || (role.value ? name : "…")].filter(Boolean).join(" ");
			return element(
				"span.chip",
				named(shown, 100),
				isSelect && description.value.trim() && element("span.quiet", named(description.value.trim(), 100)),
			);
		});
		preview.replaceChildren(
			...[heading, text.value.trim() && element("span", text.value.trim())].filter((one) => one instanceof Node),
			element(isSelect ? "div.list" : "div.chips", ...items),
		);
	}

	/** @param {string} message */
	function complain(message) {
		problem.textContent = shownLines(message, 2_000);
	}

	async function submit() {
		complain("");
		const of = (/** @type {"role" | "label" | "emoji" | "description"} */ part) =>
			rows.map((row) => row[part].value.trim());
		const given = {
			channel_id: channel.value,
			role_ids: of("role"),
			labels: of("label"),
			emojis: of("emoji"),
			style: style.value,
			...(style.value === "select" && { descriptions: of("description") }),
			...(title.value.trim() && { title: title.value.trim() }),
			...(text.value.trim() && { content: text.value.trim() }),
			...(limit.value && { max: Number(limit.value) }),
		};
		const answer = await post("/settings/submit", { ...place, call: "menu", arguments: given });
		if (answer.isError) return complain(answer.text);
		form.reset();
		for (const { content: row } of rows) row.remove();
		rows = [];
		fill();
		say(answer.isWaiting ? "Sent. It is posted once somebody has approved it." : "Posted.");
	}

	return { content, fill };
}

/** @param {() => void} onRemove */
function createRow(onRemove) {
	const role = element("select", { required: true });
	const label = element("input", { maxlength: 100, placeholder: "the role's name" });
	const emoji = element("input", { maxlength: 64 });
	const description = element("input", { maxlength: 100 });
	const legend = element("legend");
	const remove = element("button.small", { onclick: onRemove }, "Remove");
	const described = labelled("Description", description);
	const content = element(
		"fieldset.menu-row",
		legend,
		labelled("Role", role),
		labelled("Label", label),
		labelled("Emoji", emoji),
		described,
		remove,
	);
	return {
		content,
		role,
		label,
		emoji,
		description,
		/**
		 * @param {number} number
		 * @param {boolean} isDescribed
		 * @param {boolean} isRemovable
		 */
		update(number, isDescribed, isRemovable) {
			legend.textContent = `Role ${number}`;
			remove.setAttribute("aria-label", `Remove role ${number}`);
			remove.hidden = !isRemovable;
			described.hidden = !isDescribed;
		},
	};
}

/**
 * @param {string} name
 * @param {HTMLElement} control
 */
function labelled(name, control) {
	return element("label.field", element("span", name), control);
}

/**
 * @param {string} value
 * @param {string} name
 */
function option(value, name) {
	return element("option", { value }, name);
}

/**
 * @param {HTMLSelectElement} select
 * @param {readonly Item[] | undefined} items
 */
function fillList(select, items = []) {
	const { value } = select;
	select.replaceChildren(option("", "choose"), ...items.map(({ id, name }) => option(id, name)));
	select.value = value;
	if (select.selectedIndex < 0) select.value = "";
}
