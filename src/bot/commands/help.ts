// `help`: the commands that whoever asks may use, where they ask.

import { type Command, mayUse } from "./commands.ts";

/** The commands with `help` before them; none where there are none. */
export function withHelp(
	prefix: string,
	commands: readonly Command[],
): readonly Command[] {
	if (commands.length === 0) return [];
	const help: Command = {
		name: "help",
		usage: "",
		description: "shows what you can write here",
		async run(asked) {
			const lines = all
				.filter((command) => mayUse(asked, command))
				.map(
					({ name, usage, description }) =>
						`\`${[prefix, name, usage].join(" ").trimEnd()}\`: ${description}.`,
				);
			return lines.join("\n");
		},
	};
	const all = [help, ...commands];
	return all;
}
