/** For tests that measure memory: collects all garbage, at once. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
export const collectGarbage: () => void = runInNewContext("gc");
