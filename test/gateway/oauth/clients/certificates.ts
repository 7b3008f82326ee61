// Certificate authorities and certificates of servers (RFC 5280), made from scratch for a test.

import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

export interface CertificateAuthority {
	/** The authority's own certificate, as PEM. */
	certificate: string;
	privateKey: KeyObject;
}

/** Encodes a value in DER: its tag, its length, its content. */
function der(tag: number, ...content: Uint8Array[]): Buffer {
	const body = Buffer.concat(content);
	const { length } = body;
	const lengthBytes = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
	return Buffer.concat([Buffer.from([tag, ...lengthBytes]), body]);
}

const sequence = (...content: Uint8Array[]) => der(0x30, ...content);
const set = (...content: Uint8Array[]) => der(0x31, ...content);
const octets = (...content: Uint8Array[]) => der(0x04, ...content);
const text = (value: string) => der(0x0c, Buffer.from(value));
const time = (value: string) => der(0x17, Buffer.from(value));
const oid = (...bytes: number[]) => der(0x06, Buffer.from(bytes));

const commonName = oid(0x55, 4, 3);
const basicConstraints = oid(0x55, 29, 19);
const subjectAltName = oid(0x55, 29, 17);
const ecdsaWithSha256 = sequence(oid(42, 0x86, 72, 0xce, 0x3d, 4, 3, 2));

const name = (value: string) => sequence(set(sequence(commonName, text(value))));

let serial = 0;

function certificate(
	subject: string,
	publicKey: KeyObject,
	issuer: string,
	issuerKey: KeyObject,
	extension: Buffer,
): string {
	const content = sequence(
		der(0xa0, der(0x02, Buffer.from([2]))),
		der(0x02, Buffer.from([++serial])),
		ecdsaWithSha256,
		name(issuer),
		sequence(time("200101000000Z"), time("491231235959Z")),
		name(subject),
		publicKey.export({ format: "der", type: "spki" }),
		der(0xa3, sequence(extension)),
	);
	const signature = sign("sha256", content, issuerKey);
	const signed = sequence(content, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
	const lines = signed.toString("base64").replace(/.{64}/g, "$&\n").trim();
	return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const authorityName = "Test authority";

export function certificateAuthority(): CertificateAuthority {
	const { publicKey, privateKey } = newKeys();
	const isAuthority = sequence(basicConstraints, octets(sequence(der(0x01, Buffer.from([255])))));
	return { certificate: certificate(authorityName, publicKey, authorityName, privateKey, isAuthority), privateKey };
}

/** Returns the key and the certificate of a server with this host name, as PEM. */
export function keyPair(authority: CertificateAuthority, hostname: string): { key: string; cert: string } {
	const { publicKey, privateKey } = newKeys();
	const names = sequence(subjectAltName, octets(sequence(der(0x82, Buffer.from(hostname)))));
	return {
		key: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
		cert: certificate(hostname, publicKey, authorityName, authority.privateKey, names),
	};
}
