/**
 * `svc codegen`: writes what follows from the definitions. Needs no database.
 * Next hop: `crud-sql.ts`.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EffectiveConfig } from "../define/config.ts";
import type { LoadedApp } from "../service/load-app.ts";
import { crudFile } from "./crud-sql.ts";

/** @returns the files that changed, relative to the application */
export async function codegen(config: EffectiveConfig, app: LoadedApp): Promise<string[]> {
  const folder = join(config.cwd, "sql", "crud");
  const files = new Map(app.api["~svc"].crud.map((crud) => [`${crud.prefix}.sql`, crudFile(crud)]));
  const present: string[] = await readdir(folder).catch(() => []);
  const changed: string[] = [];

  for (const [name, text] of files) {
    const path = join(folder, name);
    if (present.includes(name) && (await readFile(path, "utf8")) === text) continue;
    await mkdir(folder, { recursive: true });
    await writeFile(path, text);
    changed.push(`sql/crud/${name}`);
  }
  // The folder is generated as a whole; a resource that is gone takes its file along.
  for (const name of present.filter((name) => name.endsWith(".sql") && !files.has(name))) {
    await rm(join(folder, name));
    changed.push(`sql/crud/${name}`);
  }
  return changed;
}
