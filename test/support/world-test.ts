import { testWith } from "./test-with.ts";
import { startWorld } from "./world.ts";

/** A test with a world of its own. */
export const worldTest = testWith(() => startWorld());
