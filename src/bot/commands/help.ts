// `help`: lists the commands that the author may use in this channel.

import { type Command, mayUse } from "./commands.ts";

/**
 * Returns the chat commands with the command `help` added at the beginning. `help` lists the commands that its user may
 * use. Returns an empty list if there are no chat commands.
 */
export function withHelp(
	prefix: string,
	commands: readonly Command[],
): readonly Command[] {
	if (commands.length === 0) return [];
	const help: Command = {
		name: "help",
		usage: "",
		description: "shows what you can write here",
		async run(context) {
			const lines = all
				.filter((command) => mayUse(context, command))
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
