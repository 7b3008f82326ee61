// Stems of English words, to compare words without their endings.

/** "banned", "banning" and "bans" become "ban", and "replies" "reply". */
export function stem(word: string): string {
	let base = word;
	if (/ies$/.test(base) && base.length > 4) base = base.replace(/ies$/, "y");
	else if (/(?:[sx]|ch|sh)es$/.test(base)) base = base.slice(0, -2);
	else if (/[^su]s$/.test(base) && base.length > 3) base = base.slice(0, -1);
	if (/ied$/.test(base)) return base.replace(/ied$/, "y");
	if (/[aeiouy].*ing$/.test(base) && base.length > 5) base = base.slice(0, -3);
	else if (/[aeiouy].*[^e]ed$/.test(base) && base.length > 4) base = base.slice(0, -2);
	// "banned" became "bann", and "deleted" "delet".
	if (/([bdfgkmnprtvz])\1$/.test(base)) base = base.slice(0, -1);
	return base.length > 3 ? base.replace(/e$/, "") : base;
}
