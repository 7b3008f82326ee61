// Invented people: names, and which roles they have. The same position in a guild always gets the same.

const names: readonly (readonly [string, string])[] = [
	["Ana", "ana"],
	["Bjørn", "bjorn"],
	["Chloé", "chloe"],
	["Đặng", "dang"],
	["王芳", "wangfang"],
	["Ximena", "ximena"],
	["Юлия", "yulia"],
	["Zainab", "zainab"],
	["Ayşe", "ayse"],
	["Μαρία", "maria"],
	["さくら", "sakura"],
	["지민", "jimin"],
];

/** Returns the display name and user name of an invented person. `number` is 1 for the first person. */
export function personNamed(number: number) {
	const [global_name, username] = names[(number - 1) % names.length] ?? ["", ""];
	return { global_name, username: `${username}${number}` };
}

/** About half of the members have the lowest role, a third the next, then a quarter. `fromLowest`: lowest first. */
export function rolesOf(number: number, fromLowest: readonly string[]) {
	return fromLowest.filter((_, rank) => Bun.hash.crc32(`${number}/${rank}`) / 2 ** 32 < 1 / (rank + 2));
}
