// Bytes in base64, as tools take them.

/** The bytes; undefined for a text that is no base64, which would otherwise be read as far as it goes. */
export function readBase64(text: string): Buffer | undefined {
	const whole = text.length % 4 === 0;
	return whole && /^[A-Za-z0-9+/]+={0,2}$/.test(text)
		? Buffer.from(text, "base64")
		: undefined;
}
