// The files of instances/example, from which instances are made. They come with the program: an executable has no sources
// beside it.

import env from "../../instances/example/.env" with { type: "text" };
import config from "../../instances/example/config.toml" with { type: "text" };
import personality from "../../instances/example/personality.txt" with {
	type: "text",
};

/** Text by name, in the order in which they are named to the operator. */
export const example: ReadonlyMap<string, string> = new Map([
	[".env", env],
	["config.toml", config],
	["personality.txt", personality],
]);
