/** This package's version, from its package.json. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { platformRoot } from "./platform.ts";

export const { version } = JSON.parse(readFileSync(join(platformRoot, "package.json"), "utf8")) as { version: string };
