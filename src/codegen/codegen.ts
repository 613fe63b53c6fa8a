/** `svc codegen`: generates files from the definitions. Needs no database. Next hop: `src/crud/crud-sql.ts`, `client-api.ts`. */
import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import type { EffectiveConfig } from "../config/config.ts";
import type { LoadedApp } from "../contract/loaded-app.ts";
import { crudFile } from "../crud/crud-sql.ts";
import { followedTables } from "../crud/followed-tables.ts";
import { realtimeFile } from "../crud/realtime-sql.ts";
import { auditedTables } from "../history/audited.ts";
import { historyFile } from "../history/history-sql.ts";
import { searchFile } from "../search/search-sql.ts";
import { webhooksFile } from "../webhooks/webhooks-sql.ts";
import { clientApi } from "./client-api.ts";
import { dbModule, dbModuleOf } from "./db-module.ts";
import { exportedProcedures } from "./exported.ts";
import { writeChanged } from "./write-changed.ts";

const aiModule = `// Written by svc codegen. Do not edit.
import { createAi } from "@svc/core";

/** Chat, embeddings, reranking, vision and speech, for the caller of the handler. Models and caps: svc.config.ts. */
export const ai = createAi();
`;

/** Called before the application is loaded, which may import the file. @returns its path in the application, if it changed */
export async function writeAiModule(config: EffectiveConfig): Promise<string[]> {
  const file = join(config.rootDir, "generated", "ai.ts");
  return (await writeChanged(file, aiModule)) ? [relative(config.cwd, file)] : [];
}

/** @returns the changes: "wrote FILE" or "removed FILE", relative to the application */
export async function codegen(config: EffectiveConfig, app: LoadedApp): Promise<string[]> {
  const crudFolder = join(config.cwd, "sql", "crud");
  const { clientOutDir } = config.codegen;
  const { webhooks } = app.api["~svc"];
  const webhooksPath = join(config.cwd, "sql", "webhooks.sql");
  const index = join(config.rootDir, "index.ts");
  const audited = auditedTables(app.schema);
  const history = join(config.cwd, "sql", "history.sql");
  const files = new Map([
    ...app.api["~svc"].crud.map((crud) => [join(crudFolder, `${crud.prefix}.sql`), crudFile(crud)] as const),
    [join(config.cwd, "sql", "realtime.sql"), realtimeFile(followedTables(app.api, app.schema))],
    [join(config.cwd, "sql", "search.sql"), searchFile(app.schema)],
    // Where the last declaration is dropped, the empty list removes its triggers. So does that of webhooks.
    ...(audited.length > 0 || existsSync(history) ? [[history, historyFile(audited)] as const] : []),
    ...(webhooks.length > 0 || existsSync(webhooksPath) ? [[webhooksPath, webhooksFile(webhooks)] as const] : []),
    [
      dbModuleOf(config.rootDir),
      dbModule(
        join(config.rootDir, "generated"),
        config.schema.filter((file) => existsSync(file)),
      ),
    ],
    [join(clientOutDir, "api.ts"), clientApi(app.api, clientOutDir, index, await exportedProcedures(index))],
  ]);
  const done: string[] = [];
  const note = (verb: string, path: string) => done.push(`${verb} ${relative(config.cwd, path)}`);
  for (const [path, text] of files) if (await writeChanged(path, text)) note("wrote", path);
  // The whole folder is generated, so files of removed resources are deleted.
  const present: string[] = await readdir(crudFolder).catch(() => []);
  for (const path of present.filter((name) => name.endsWith(".sql")).map((name) => join(crudFolder, name))) {
    if (files.has(path)) continue;
    await rm(path);
    note("removed", path);
  }
  return done;
}
