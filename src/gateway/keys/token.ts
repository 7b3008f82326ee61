// The secrets that the gateway creates. Only their SHA-256 hashes are stored and compared, so neither the database nor the
// time that a look-up takes reveals one. The form of tokens (keys, and what OAuth clients get) is that of GitHub's tokens: a prefix by
// which secret scanners recognise them, random characters, and a checksum, so that a wrong guess is refused without a look
// at the database. https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/

/** API keys, and access and refresh tokens of OAuth. */
export const tokenPrefixes = { key: "guildhall_", access: "guildhall_at_", refresh: "guildhall_rt_" } as const;

export type TokenKind = keyof typeof tokenPrefixes;

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomLength = 40;
const checksumLength = 6;

/** Callers must store only its hash. */
export function createToken(kind: TokenKind): string {
	const body = tokenPrefixes[kind] + randomText(randomLength);
	return body + checksumOf(body);
}

/** Undefined without the form and checksum of `createToken`. */
export function kindOfToken(token: string): TokenKind | undefined {
	const [, prefix] = /^(guildhall_(?:[a-z]{2}_)?)[0-9A-Za-z]{46}$/.exec(token) ?? [];
	if (prefix === undefined) return undefined;
	if (!token.endsWith(checksumOf(token.slice(0, -checksumLength)))) return undefined;
	const kinds = Object.keys(tokenPrefixes) as TokenKind[];
	return kinds.find((kind) => tokenPrefixes[kind] === prefix);
}

/** Of a sign-in: 256 random bits, in 43 characters of base64url. */
export function newSecret(): string {
	return crypto.getRandomValues(Buffer.alloc(32)).toString("base64url");
}

/** Compares in constant time. */
export function isSameSecret(given: string, expected: string): boolean {
	return crypto.timingSafeEqual(Bun.SHA256.hash(given), Bun.SHA256.hash(expected));
}

/** SHA-256 in hexadecimal. Secrets are random, so a slow password hash is not needed. */
export function hashToken(token: string): string {
	return Bun.SHA256.hash(token, "hex");
}

function randomText(length: number): string {
	let text = "";
	while (text.length < length)
		// The largest multiple of 62: beyond it some characters would be more frequent.
		for (const byte of crypto.getRandomValues(new Uint8Array(length)))
			if (byte < 248 && text.length < length) text += alphabet[byte % alphabet.length];
	return text;
}

function checksumOf(text: string): string {
	let rest = Bun.hash.crc32(text);
	let digits = "";
	for (let count = 0; count < checksumLength; count++) {
		digits = alphabet[rest % alphabet.length] + digits;
		rest = Math.floor(rest / alphabet.length);
	}
	return digits;
}
