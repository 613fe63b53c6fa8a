/** The platform's own folder, with `sql/`, `migrations/` and the starter. */
import { resolve } from "node:path";

/** Two folders above this file, in the repository and in the published package. */
export const platformRoot = resolve(import.meta.dirname, "../..");
