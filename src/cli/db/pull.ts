/**
 * `svc db pull`: an existing database as the beginning of an application. Reads its tables, and writes the schema file,
 * the migration that makes them, and the snapshot from which the next migration starts. Changes no database.
 * Next hop: `src/migrate/pull/catalog.ts` reads, `src/migrate/pull/write-schema.ts` writes.
 */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { writeAuthSchema } from "../../auth/auth-schema.ts";
import { ended, findPrograms, start } from "../../backup/programs.ts";
import { DefinitionError } from "../../kit/definition-error.ts";
import { generateMigration } from "../../migrate/generate/schema-generate.ts";
import { nextNumber, readHistory } from "../../migrate/generate/schema-history.ts";
import { platformSchemas } from "../../migrate/generate/schema-snapshot.ts";
import { type Catalog, readCatalog } from "../../migrate/pull/catalog.ts";
import { leavingKeys, migrationText } from "../../migrate/pull/dump-text.ts";
import { writeSchema } from "../../migrate/pull/write-schema.ts";
import { withClient } from "../../postgres/with-client.ts";
import { readConfig } from "../command.ts";
import { defineCommand } from "../define.ts";
import { texts, word } from "../options.ts";
import { conclude, during } from "../output.ts";

export const command = defineCommand({
  args: {
    url: word("Address of the existing database, such as postgres://admin@old-host/shop."),
    schema: texts("A schema with tables; may be repeated. (Default: public)"),
  },
  run: async (args) => {
    const config = await readConfig(args.cwd);
    const file = config.schema[0] as string;
    const place = relative(config.cwd, file);
    if (existsSync(file)) {
      throw new DefinitionError(`There is a ${place} already.`, {
        hint: "Remove it when you do not need its tables; or name another file in schema of svc.config.ts, before this one.",
      });
    }
    const schemas = args.schema.length > 0 ? args.schema : ["public"];
    const { catalog, migration } = await during("Reading the database", () => read(args.url, schemas));

    const history = await readHistory(join(config.cwd, "migrations"));
    const name = `migrations/${nextNumber(history)}_existing.sql`;
    for (const [path, content] of [
      [file, writeSchema(catalog)],
      [join(config.cwd, name), migration],
    ] as const) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content, { flag: "wx" });
    }
    const others = [
      ...(await writeAuthSchema(config)),
      ...(await generateMigration(config, { renames: [], drops: [], baseline: true })),
    ];
    const wrote = [place, name, ...others];
    conclude({ wrote }, ...wrote.map((one) => `wrote ${one}`), ...advice(catalog, schemas, wrote, migration));
  },
});

/** @throws DefinitionError when the schemas have no tables; BackupError without pg_dump */
async function read(url: string, schemas: readonly string[]): Promise<{ catalog: Catalog; migration: string }> {
  const { catalog, major } = await withClient(url, "svc db pull", async (client) => {
    const { rows } = await client.query("select current_setting('server_version_num')::integer / 10000 as major");
    return { catalog: await readCatalog(client, schemas), major: Number(rows[0].major) };
  });
  if (catalog.tables.length === 0) {
    const elsewhere = catalog.others.map((name) => `--schema ${name}`).join(" ");
    throw new DefinitionError(`There are no tables in ${schemas.join(", ")}.`, {
      hint: elsewhere ? `Other schemas have some: ${elsewhere}` : "Is it the right database?",
    });
  }
  const which = schemas.map((name) => `--schema="${name.replaceAll('"', '""')}"`);
  const left = ["owner", "privileges", "publications", "subscriptions", "tablespaces"].map((what) => `--no-${what}`);
  const child = start(await findPrograms(major), "pg_dump", ["--schema-only", ...left, ...which], url);
  const [dump] = await Promise.all([text(child.stdout as Readable), ended(child, "pg_dump")]);
  return { catalog, migration: migrationText(dump, catalog) };
}

/** What is not in the schema file, and what its author can do about it. */
function advice(
  catalog: Catalog,
  schemas: readonly string[],
  [place, migration]: readonly string[],
  sql: string,
): string[] {
  const others = catalog.others.filter((name) => !platformSchemas.includes(name));
  const every = [...schemas, ...others].map((name) => `--schema ${/\W/.test(name) ? `"${name}"` : name}`).join(" ");
  const again = `To read them, remove the files that were written, and run it again with ${every}.`;
  const keys = leavingKeys(catalog.tables).map(
    ({ from, key }) => `${key.name} on ${from}, to ${key.schema}.${key.table}`,
  );
  const byHand = `Write a migration of your own with the next free number.`;
  const parts: [names: string[], beginning: string, end: string][] = [
    [others, "Not read, the tables of", again],
    [keys, "Left out, foreign keys to tables that were not read:", "Their columns are there."],
    [
      catalog.policies.map(({ name, table }) => `${name} on ${table}`),
      "Left out, policies, because they name roles that svc does not use:",
      `Their SQL is in comments of ${place}. Write yours beside each table.`,
    ],
    [
      catalog.triggers,
      "Left out, triggers on tables that were not read:",
      `Their functions are in ${migration}. For a row at each sign-up: @svc/core/docs/how-to/user-profiles.md`,
    ],
    [
      linesOfSupabase(sql),
      `${migration} calls functions of Supabase's schema auth, which svc does not have, in the lines`,
      "Here, svc.current_user_id() is the caller's id, a text: @svc/core/docs/how-to/from-supabase.md",
    ],
    [
      catalog.foreignTables,
      "Left out, foreign tables, because their servers belong to no schema:",
      `${byHand} It makes the server and the tables.`,
    ],
    [
      catalog.undeclared,
      `Only in ${migration}, because ${place} cannot declare them:`,
      `To change one, ${byHand.replace("W", "w")}`,
    ],
  ];
  return [
    ...parts.flatMap(([names, beginning, end]) => (names.length > 0 ? [`${beginning} ${some(names)}. ${end}`] : [])),
    "No caller sees a row until you give its table a policy: @svc/core/docs/how-to/existing-database.md",
  ];
}

/** PostgreSQL refuses such a default when it is migrated, but such a function only when it is called. */
const linesOfSupabase = (sql: string) =>
  sql.split("\n").flatMap((line, at) => (/\bauth\.(uid|jwt|role|email)\(\)/.test(line) ? [`${at + 1}`] : []));

/** A schema may have thousands. */
const some = (names: readonly string[]) =>
  names.length > 12 ? `${names.slice(0, 10).join("; ")}; and ${names.length - 10} more` : names.join("; ");
