// If this file fails, one of two tables is lost without a word, or codegen takes a schema file that is not there for an empty one.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadApp } from "../../src/app/load-app.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { applicationFolder, writeFiles } from "../support/application-folder.ts";
import { runHere } from "../support/cli.ts";

let folder: string;
beforeAll(async () => {
  folder = await applicationFolder();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const table = (name: string, as = name) =>
  `import { openRls } from "@svc/core";
import { pgTable, serial } from "drizzle-orm/pg-core";
export const ${as} = pgTable("${name}", { id: serial("id").primaryKey() }, () => openRls({ read: "anyone", write: "nobody" }));
`;
const crudOf = (...names: string[]) => `
import { createCrudFactory, createSvcProcedureBuilders, defineApi } from "@svc/core";
import * as more from "./more.ts";
import * as schema from "./schema.ts";
const createCrud = createCrudFactory(createSvcProcedureBuilders());
const { ${names} } = { ...schema, ...more };
export default defineApi({ procedures: { ${names.map((name) => `${name}: createCrud(${name})`)} } });
`;

async function application(name: string, files: Record<string, string>): Promise<string> {
  const cwd = join(folder, name);
  await writeFiles(cwd, {
    "svc.config.ts": 'export default { schema: ["./backend/schema.ts", "./backend/more.ts"] };',
    "backend/index.ts": crudOf("notes", "others"),
    ...files,
  });
  return cwd;
}
const load = async (cwd: string) => loadApp(await loadConfig({ cwd, env: {} }));

test("two tables of one name are refused with both places, before the operations that collide by it", async () => {
  const cwd = await application("twins", {
    "backend/schema.ts": table("notes"),
    "backend/more.ts": table("notes", "others"),
  });
  await expect(load(cwd)).rejects.toThrow(
    'Two tables of the schema are named "notes": notes in backend/schema.ts, and others in backend/more.ts.',
  );
});

test("two tables that two files export under one name are refused with both places", async () => {
  const cwd = await application("namesakes", {
    "backend/schema.ts": table("notes"),
    "backend/more.ts": table("others", "notes"),
    "backend/index.ts": crudOf("notes"),
  });
  await expect(load(cwd)).rejects.toThrow(
    'Two tables are exported as "notes": in backend/schema.ts, and in backend/more.ts.',
  );
});

test("a table that is exported twice is one table", async () => {
  const cwd = await application("again", {
    "backend/schema.ts": table("notes"),
    "backend/more.ts": 'export { notes, notes as others } from "./schema.ts";',
    "backend/index.ts": crudOf("notes"),
  });
  expect(Object.keys((await load(cwd)).schema).sort()).toEqual(["notes", "others"]);
});

test("a schema file that is not there is refused by codegen, too; without a schema.ts there are no tables", async () => {
  const cwd = await application("missing", { "backend/schema.ts": table("notes"), "backend/index.ts": nothing });
  const { code, error } = await runHere(["codegen", "--cwd", cwd], {});
  expect([code, error]).toEqual([1, expect.stringContaining(`There is no ${join(cwd, "backend/more.ts")}.`)]);
  const empty = join(folder, "empty");
  await writeFiles(empty, { "backend/index.ts": nothing });
  expect((await load(empty)).schema).toEqual({});
});
const nothing = 'import { defineApi } from "@svc/core"; export default defineApi({});';
