// Invented people: names, and which roles they have. The same position in a guild always gets the same.

/** Given names and how they are spelled in user names. */
const names: readonly (readonly [string, string])[] = [
	["Ana", "ana"],
	["Bjørn", "bjorn"],
	["Chloé", "chloe"],
	["Đặng", "dang"],
	["Emre", "emre"],
	["Fatima", "fatima"],
	["Georg", "georg"],
	["Hana", "hana"],
	["Ivan", "ivan"],
	["Jürgen", "jurgen"],
	["Kofi", "kofi"],
	["Łucja", "lucja"],
	["Mei", "mei"],
	["Niamh", "niamh"],
	["Olga", "olga"],
	["Pedro", "pedro"],
	["Quinn", "quinn"],
	["Ravi", "ravi"],
	["Søren", "soren"],
	["Tomáš", "tomas"],
	["Ursula", "ursula"],
	["Valentina", "valentina"],
	["王芳", "wangfang"],
	["Ximena", "ximena"],
	["Юлия", "yulia"],
	["Zainab", "zainab"],
	["Ayşe", "ayse"],
	["Μαρία", "maria"],
	["さくら", "sakura"],
	["지민", "jimin"],
];

/** Returns the names of an invented person. `number` is 1 for the first. */
export function personNamed(number: number) {
	const [global_name, username] = names[(number - 1) % names.length] ?? [
		"",
		"",
	];
	return { global_name, username: `${username}${number}` };
}

/**
 * Returns the ids of the roles that an invented member has, of the guild's roles from the lowest to the highest. The
 * lowest role has one half of the members, the next a third, then a quarter, and so on.
 */
export function rolesOf(number: number, fromLowest: readonly string[]) {
	return fromLowest.filter(
		(_, rank) => Bun.hash.crc32(`${number}/${rank}`) / 2 ** 32 < 1 / (rank + 2),
	);
}
