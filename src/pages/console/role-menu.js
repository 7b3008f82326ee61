// The builder of role menus: a message with which members give themselves roles.

import { element } from "../dom.js";
import { post } from "./api.js";
import { createForm, fillSelect, labelled, named, say } from "./parts.js";

const maxRoles = 25;

/** @import { Lists, Place } from "./types.ts" */

/** @param {Place} place @param {() => Lists} lists */
export function createRoleMenu(place, lists) {
	/** @type {ReturnType<typeof createRow>[]} */
	let rows = [];
	const channel = element("select", { required: true });
	const title = element("input", { maxlength: 256 });
	const text = element("textarea", { rows: 2, maxlength: 2000 });
	const max = element("select");
	fillSelect(max, [{ id: 1, name: "One" }], "Any number");
	const style = element("select");
	fillSelect(style, [
		{ id: "select", name: "Select menu" },
		{ id: "buttons", name: "Buttons" },
	]);
	const list = element("div.list");
	const preview = element("div.preview", { role: "group", "aria-label": "Preview of the menu" });
	const add = element("button", { onclick: () => addRow().role.focus() }, "Add a role");
	const form = createForm(
		"form.list",
		{ oninput: draw },
		{ label: "Post the menu", submit },
		element(
			"div.fields",
			labelled("Channel", channel),
			labelled("Title", title),
			labelled("Text", text),
			labelled("Members choose", max),
			labelled("Shown as", style),
		),
		list,
		element("p.buttons", add),
		preview,
	);
	const content = element(
		"details.panel",
		element("summary", element("strong", "Role menu")),
		element("p.quiet", "Posts a message with which members give themselves roles."),
		form,
	);

	function fill() {
		fillSelect(channel, lists().channel ?? [], "choose");
		for (const { role } of rows) fillSelect(role, lists().role ?? [], "choose");
		if (rows.length === 0) addRow();
	}

	function addRow() {
		const made = createRow(() => {
			rows = rows.filter((one) => one !== made);
			made.content.remove();
			add.focus();
			draw();
		});
		fillSelect(made.role, lists().role ?? [], "choose");
		rows.push(made);
		list.append(made.content);
		draw();
		return made;
	}

	function draw() {
		const isSelect = style.value === "select";
		add.disabled = rows.length >= maxRoles;
		for (const [index, row] of rows.entries()) row.update(index + 1, isSelect);
		const items = rows.map(({ role, label, emoji, description }) => {
			const name = role.value ? role.selectedOptions[0]?.text.replace(/^@/, "") : "…";
			const shown = element("span.chip", named(`${emoji.value} ${label.value.trim() || name}`.trim(), 100));
			if (isSelect && description.value) shown.append(element("span.quiet", named(description.value, 100)));
			return shown;
		});
		preview.replaceChildren(
			element("strong", title.value),
			element("p", text.value),
			element(isSelect ? "div.list" : "div.chips", ...items),
		);
	}

	async function submit() {
		const of = (/** @type {"role" | "label" | "emoji" | "description"} */ part) =>
			rows.map((row) => row[part].value.trim());
		const given = {
			channel_id: channel.value,
			role_ids: of("role"),
			labels: of("label"),
			emojis: of("emoji"),
			style: style.value,
			...(style.value === "select" && { descriptions: of("description") }),
			title: title.value.trim() || null,
			content: text.value.trim() || null,
			max: Number(max.value) || null,
		};
		const answer = await post("/settings/submit", { ...place, call: "menu", arguments: given });
		if (answer.isError) return answer.text;
		form.reset();
		for (const row of rows) row.content.remove();
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
	const fields = [labelled("Role", role), labelled("Label", label), labelled("Emoji", emoji), described];
	return {
		content: element("fieldset.menu-row", legend, ...fields, remove),
		role,
		label,
		emoji,
		description,
		/** @param {number} number @param {boolean} isDescribed */
		update(number, isDescribed) {
			legend.textContent = `Role ${number}`;
			remove.setAttribute("aria-label", `Remove role ${number}`);
			described.hidden = !isDescribed;
		},
	};
}
