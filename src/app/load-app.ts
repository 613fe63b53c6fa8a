/**
 * Loads an application's definitions: `index.ts` and the optional `auth.ts` in its `rootDir`, and its schema. Loading
 * fails if the audit of anonymous handlers (`src/audit/`) finds a problem, in development as in production.
 * Next hop: `src/service/service.ts` runs them, `src/codegen/` generates code from them.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { EffectiveConfig } from "../config/config.ts";
import type { Api } from "../contract/api.ts";
import { type AuthDefinition, defineAuth } from "../contract/auth.ts";
import type { LoadedApp } from "../contract/loaded-app.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { requirePackages } from "../kit/optional-packages.ts";
import { checkOrganizations } from "../organizations/check-organizations.ts";
import { withCrons } from "./api.ts";
import { checkScopeNames } from "./check-scope-names.ts";
import { loadSchema } from "./schema-files.ts";

/** @throws DefinitionError when a file is missing or lacks its export, or the audit refuses a handler */
export async function loadApp(config: EffectiveConfig): Promise<LoadedApp> {
  const index = join(config.rootDir, "index.ts");
  if (!existsSync(index)) {
    throw new DefinitionError(`There is no ${index}.`, {
      hint: "Create it with `export default defineApi({ … })`, or set rootDir in svc.config.ts.",
    });
  }
  const schema = await loadSchema(config); // first: of its mistakes, those of index.ts would only be consequences
  const api = await importDefault(index);
  if (!isApi(api)) {
    throw new DefinitionError(`The default export of ${index} is not an API.`, {
      hint: "Write: export default defineApi({ procedures: { … } });",
    });
  }
  const app = { api: await addLegacyCrons(config, api), auth: await loadAuth(config), schema };
  checkOrganizations(app);
  checkScopeNames(app);
  await audit(config, app);
  return app;
}

/** Older applications keep their crons in `crons.ts`: its default export is one cron, a list or a record of them. */
async function addLegacyCrons(config: EffectiveConfig, api: Api): Promise<Api> {
  const file = join(config.rootDir, "crons.ts");
  if (!existsSync(file)) return api;
  const crons = await importDefault(file);
  // An unrelated file of this name in a current application.
  if (typeof crons !== "object" || crons === null) return api;
  process.emitWarning("crons.ts is read for old applications: move its entries to the crons of defineApi.", {
    type: "DeprecationWarning",
    code: "SVC_CRONS_FILE",
  });
  return withCrons(api, "~svc" in crons ? { default: crons } : { ...crons }, "crons.ts");
}

/** Imported lazily: commands that load no application need no parser. */
async function audit(config: EffectiveConfig, app: LoadedApp): Promise<void> {
  const { refuseUnaudited } = await import("../audit/audit.ts");
  await refuseUnaudited({ root: config.cwd, rootDir: config.rootDir, schemaFiles: config.schema, app });
}

/** The application's `auth.ts`, or the defaults if it has none. @throws DefinitionError also if it needs a package */
export async function loadAuth(config: Pick<EffectiveConfig, "rootDir">): Promise<AuthDefinition> {
  const file = join(config.rootDir, "auth.ts");
  if (!existsSync(file)) return defineAuth({});
  const auth = await importDefault(file);
  // Checked here, too: an object that was not made by defineAuth() would lose its misspelled keys.
  if (typeof auth === "object" && auth !== null) {
    const definition = defineAuth(auth as AuthDefinition);
    if (definition.passkeys) requirePackages("passkeys");
    return definition;
  }
  throw new DefinitionError(`${file} has no default export.`, { hint: "Write: export default defineAuth({ … });" });
}

const importDefault = async (file: string): Promise<unknown> => (await import(pathToFileURL(file).href)).default;

const isApi = (value: unknown): value is Api =>
  typeof value === "object" && value !== null && "procedures" in Object((value as Api)["~svc"]);
