/** An application as `src/app/load-app.ts` loads it. */
import type { Api } from "./api.ts";
import type { AuthDefinition } from "./auth.ts";

/** An application, as loaded. */
export interface LoadedApp {
  api: Api;
  auth: AuthDefinition;
  /** Everything that the schema files export. */
  schema: Record<string, unknown>;
}
