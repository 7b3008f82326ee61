// An .env that is imported is its text.

declare module "*.env" {
	const text: string;
	export default text;
}
