// A bar chart of calls by hour, as SVG.

import { element } from "../dom.js";
import { timeOf } from "./parts.js";

const hourMs = 3_600_000;
const height = 100;
/** A week of hours, and the one that has begun. */
const maxBars = 169;

/**
 * @param {readonly { hour: number, calls: number, refused: number, failed: number }[]} hours Since 1970; of several bots.
 * @param {number} from Milliseconds since 1970.
 * @param {number} to
 */
export function createChart(hours, from, to) {
	/** Hours of a bar. */
	const step = [1, 6].find((hours) => (to - from) / hourMs / hours <= maxBars) ?? 24;
	// Bars begin at midnight, or at a fraction of the day after it.
	const shift = Math.round(new Date(to).getTimezoneOffset() / 60);
	/** @param {number} hour */
	const barOf = (hour) => Math.floor((hour - shift) / step);
	const first = barOf(Math.floor(from / hourMs));
	const count = barOf(Math.floor(to / hourMs)) - first + 1;
	const bars = Array.from({ length: count }, () => ({ calls: 0, refused: 0, failed: 0 }));
	for (const { hour, calls, refused, failed } of hours) {
		const bar = bars[barOf(hour) - first];
		if (!bar) continue;
		bar.calls += calls;
		bar.refused += refused;
		bar.failed += failed;
	}
	const most = Math.max(...bars.map(({ calls }) => calls));
	const svg = createSvg("svg", { viewBox: `0 0 ${count} ${height}`, preserveAspectRatio: "none", role: "img" });
	const paths = { good: "", warn: "", bad: "" };
	for (const [index, { calls, refused, failed }] of bars.entries()) {
		let y = height;
		/** Few of many are seen, too. @param {"good" | "warn" | "bad"} name @param {number} value */
		const stack = (name, value) => {
			if (value === 0) return;
			const bar = Math.max(2, (value / most) * (height - 4));
			paths[name] += `M${index + 0.1} ${y}v${-bar}h.8v${bar}z`;
			y -= bar;
		};
		stack("bad", failed);
		stack("warn", refused);
		stack("good", calls - refused - failed);
	}
	for (const [name, d] of Object.entries(paths)) svg.append(createSvg("path", { class: name, d }));
	const unit = step === 1 ? "hour" : step === 24 ? "day" : `${step} hours`;
	const text = `Calls by ${unit}; the highest bar is ${most}`;
	svg.setAttribute("aria-label", text);
	const edges = element("figcaption.bar.quiet", timeOf(from), element("span", "now"));
	return element("figure.chart", element("p.quiet", text), svg, edges);
}

/** @param {string} name @param {Record<string, string>} attributes */
function createSvg(name, attributes) {
	const made = document.createElementNS("http://www.w3.org/2000/svg", name);
	for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
	return made;
}
