/**
 * What related rows cost the compiler: a backend of 50 tables in a circle, its generated api.ts, and a page with 50 calls,
 * compiled with includes three levels deep and without any.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { clientApi } from "../src/codegen/client-api.ts";
import { dbModule, dbModuleOf } from "../src/codegen/db-module.ts";
import { median } from "./measure.ts";

const root = join(import.meta.dirname, "..");
const tables = Array.from({ length: 50 }, (_, index) => index);
const before = (index: number) => (index + tables.length - 1) % tables.length;

const schema = tables
  .map(
    (n) => `export const t${n} = pgTable("t${n}", {
  id: serial("id").primaryKey(),
  userId: text("user_id").notNull(),
  parentId: integer("parent_id").references((): AnyPgColumn => t${before(n)}.id),
  title: text("title").notNull(),
  done: boolean("done"),
  size: integer("size"),
  createdAt: timestamp("created_at", { withTimezone: true }).notNull().defaultNow(),
}, (t) => ownerRls(t.userId));
export const r${n} = relations(t${n}, ({ one, many }) => ({
  parent: one(t${before(n)}, { fields: [t${n}.parentId], references: [t${before(n)}.id] }),
  children: many(t${(n + 1) % tables.length}),
}));`,
  )
  .join("\n");

const backend = (related: boolean) => `
import { createCrudFactory, createSvcProcedureBuilders, defineApi, ownerRls } from "@svc/core";
import { relations } from "drizzle-orm";
import { type AnyPgColumn, boolean, integer, pgTable, serial, text, timestamp } from "drizzle-orm/pg-core";
${schema}
const tables = { ${tables.map((n) => `t${n}, r${n}`).join(", ")} };
const createCrud = createCrudFactory(createSvcProcedureBuilders<typeof tables>(), tables);
export default defineApi({ procedures: {
${tables.map((n) => `  t${n}: createCrud(t${n}, { allowedFilters: ["title", "done", "size"]${related ? ', include: ["parent", "children"]' : ""} }),`).join("\n")}
} });`;

const deep = `{ include: { parent: { include: { children: { limit: 2, include: { parent: { select: ["title"] } } } } } } }`;
const page = (related: boolean) => `
import { createSvcClient } from "@svc/client";
import { api } from "./api.ts";
const client = createSvcClient({ api, baseUrl: "" });
${tables
  .map(
    (n) => `export const p${n} = async () => {
  const { data } = await client.query(api.t${n}.list, ${related ? deep : "{ limit: 2 }"});
  return data.map((row) => row.${related ? "parent?.children.map((one) => one.parent?.title)" : "title"});
};`,
  )
  .join("\n")}`;

export async function run(): Promise<void> {
  const [without, included] = [await compiled(false), await compiled(true)];
  console.info("\nA backend of 50 tables and 50 calls, compiled");
  for (const [name, { seconds, instantiations, types }] of Object.entries({ without, included })) {
    console.info(`  ${name.padEnd(9)} ${seconds.toFixed(2)} s   ${instantiations} instantiations   ${types} types`);
  }
  console.info(`  ${(included.seconds / without.seconds).toFixed(2)}x the time`);
}

async function compiled(related: boolean) {
  const folder = join(root, "bench", `.types-${related}.svc`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "generated"), { recursive: true });
  try {
    const file = join(folder, "index.ts");
    writeFileSync(file, backend(related));
    const { default: api } = await import(pathToFileURL(file).href);
    writeFileSync(dbModuleOf(folder), dbModule(join(folder, "generated"), []));
    writeFileSync(join(folder, "api.ts"), clientApi(api, folder, file));
    writeFileSync(join(folder, "page.ts"), page(related));
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: "../../tsconfig.json", files: ["page.ts"], include: [] }),
    );
    const runs = Array.from({ length: 3 }, () => {
      const arguments_ = ["-p", folder, "--extendedDiagnostics"];
      const output = execFileSync(join(root, "node_modules/.bin/tsc"), arguments_, { encoding: "utf8" });
      const figure = (name: string) => Number(new RegExp(`^${name}:\\s+([\\d.]+)`, "m").exec(output)?.[1]);
      return { seconds: figure("Check time"), instantiations: figure("Instantiations"), types: figure("Types") };
    });
    return { ...runs[0], seconds: median(runs.map(({ seconds }) => seconds)) } as (typeof runs)[0];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
