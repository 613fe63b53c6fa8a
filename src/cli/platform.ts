/** The platform's own folder, with `sql/`, `migrations/` and the starter, and its version. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Two folders above this file, in the repository and in the published package. */
export const platformRoot = resolve(import.meta.dirname, "../..");

export const { version } = JSON.parse(readFileSync(join(platformRoot, "package.json"), "utf8")) as { version: string };
