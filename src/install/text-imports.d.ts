// Files that are imported as text, `with { type: "text" }`.

declare module "*.service" {
	const text: string;
	export default text;
}

declare module "*/Caddyfile" {
	const text: string;
	export default text;
}

declare module "*.sh" {
	const text: string;
	export default text;
}
