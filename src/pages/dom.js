// Creates and updates elements of the pages. Strings become text, never markup.

/** @typedef {Node | string | number | undefined | null | false} Child */

/**
 * Creates an element: "p.small.quiet". Properties whose names begin with "on" are event handlers, others are attributes.
 * False, null and undefined omit an attribute or child. A button with `onclick` does not submit its form.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag | `${Tag}.${string}`} selector
 * @param {Record<string, unknown> | Child} [first] The properties, or the first child.
 * @param {...Child} others
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(selector, first, ...others) {
	const [tag, ...classes] = selector.split(".");
	const made = document.createElement(/** @type {Tag} */ (tag));
	if (classes.length > 0) made.className = classes.join(" ");
	const properties = typeof first === "object" && first && !(first instanceof Node) ? first : undefined;
	for (const [name, value] of Object.entries(properties ?? {})) {
		if (value === undefined || value === null || value === false) continue;
		if (name.startsWith("on") && typeof value === "function")
			made.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
		else made.setAttribute(name, value === true ? "" : String(value));
	}
	if (properties?.onclick && made instanceof HTMLButtonElement) made.type = "button";
	const children = /** @type {Child[]} */ (properties ? others : [first, ...others]);
	for (const child of children)
		if (child !== undefined && child !== null && child !== false)
			made.append(child instanceof Node ? child : String(child));
	return made;
}

/** Returns the element with this id. Throws if there is none. @param {string} id @returns {HTMLElement} */
export function byId(id) {
	const found = document.getElementById(id);
	if (!found) throw new Error(`the page has no element ${id}`);
	return found;
}

/**
 * Replaces the children of an element. Those that stay are not moved, so that they keep the focus and entered text. A new
 * element with the same `data-key` gets the focus, or stays open; a `<select>` (`data-component`, too) keeps what is chosen.
 * @param {Element} parent
 * @param {readonly Element[]} children
 */
export function setChildren(parent, children) {
	const focused = document.activeElement;
	const key = parent.contains(focused) && focused?.getAttribute("data-key");
	const open = Array.from(parent.querySelectorAll("details[open][data-key]"), (one) => one.getAttribute("data-key"));
	const menus = parent.querySelectorAll("select");
	const wanted = new Set(children);
	for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
	for (const [index, child] of children.entries())
		if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
	for (const one of open) findByKey(parent, one)?.setAttribute("open", "");
	for (const old of menus) {
		const menu = old.isConnected ? null : findByKey(parent, old.getAttribute("data-key"));
		if (!(menu instanceof HTMLSelectElement) || menu.dataset.component !== old.dataset.component) continue;
		const chosen = new Set(Array.from(old.selectedOptions, ({ value }) => value));
		for (const option of menu.options) option.selected = chosen.has(option.value);
	}
	if (key && !focused?.isConnected) findByKey(parent, key)?.focus({ preventScroll: true });
}

/** @param {Element} parent @param {string | null} key @returns {HTMLElement | null} */
function findByKey(parent, key) {
	return parent.querySelector(`[data-key="${CSS.escape(key ?? "")}"]`);
}

/**
 * Returns a function that calls `run` once, `ms` milliseconds after the first call of the function since then.
 * @param {number} ms
 * @param {() => void} run
 */
export function soon(ms, run) {
	let isWaiting = false;
	return () => {
		if (isWaiting) return;
		isWaiting = true;
		setTimeout(() => {
			isWaiting = false;
			run();
		}, ms);
	};
}
