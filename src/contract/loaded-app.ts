/** An application as `src/app/load-app.ts` loads it. */
import type { Api } from "./api.ts";
import type { AuthDefinition } from "./auth.ts";

export interface LoadedApp {
  api: Api;
  auth: AuthDefinition;
  /** All exports of the schema files. */
  schema: Record<string, unknown>;
}
