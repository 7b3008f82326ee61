// Colors as texts.

/** From 0 to 0xffffff, as "#8E44AD". */
export function formatColor(value: number): string {
	return `#${value.toString(16).padStart(6, "0").toUpperCase()}`;
}
