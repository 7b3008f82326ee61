// Base64 arguments of tools.

/** Strict: undefined for invalid base64, which Buffer.from would decode up to the first error. */
export function readBase64(text: string): Buffer | undefined {
	return text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)
		? Buffer.from(text, "base64")
		: undefined;
}
