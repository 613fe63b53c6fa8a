/** Where the platform's own files are: `sql/`, `migrations/` and the starter. */
import { resolve } from "node:path";

/** In the repository and in the published package alike, two folders above this one. */
export const platformRoot = resolve(import.meta.dirname, "../..");
