// The secrets of sign-ins: random values of 256 bits. Only their SHA-256 hashes are stored and compared, so neither the
// database nor the time that a look-up takes reveals a secret. Tokens have a form of their own (keys/token.ts).

/** 43 characters of base64url. */
export function newSecret(): string {
	return crypto.getRandomValues(Buffer.alloc(32)).toString("base64url");
}

/** SHA-256 in hexadecimal. */
export function hashSecret(secret: string): string {
	return Bun.SHA256.hash(secret, "hex");
}

/** Compares in constant time. */
export function isSameSecret(given: string, expected: string): boolean {
	return crypto.timingSafeEqual(Bun.SHA256.hash(given), Bun.SHA256.hash(expected));
}

/** Method S256 (RFC 7636, section 4.2). */
export function codeChallenge(verifier: string): string {
	return Bun.SHA256.hash(verifier, "base64url");
}
