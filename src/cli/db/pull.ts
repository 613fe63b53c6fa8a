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
import { migrationText } from "../../migrate/pull/dump-text.ts";
import { writeSchema } from "../../migrate/pull/write-schema.ts";
import { withClient } from "../../postgres/with-client.ts";
import { cwdArgument, readConfig } from "../command.ts";
import { defineCommand } from "../define.ts";
import { conclude, during } from "../output.ts";

export const command = defineCommand({
  args: {
    ...cwdArgument,
    url: {
      type: "positional",
      required: true,
      description: "Address of the existing database, such as postgres://admin@old-host/shop.",
    },
    schema: {
      type: "string",
      repeatable: true,
      description: "A schema with tables; may be repeated. (Default: public)",
    },
  },
  run: async ({ args }) => {
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
    conclude({ wrote }, ...wrote.map((one) => `wrote ${one}`), ...advice(catalog));
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
  const options = [
    "--schema-only",
    "--no-owner",
    "--no-privileges",
    "--no-publications",
    "--no-subscriptions",
    "--no-tablespaces",
  ];
  const child = start(await findPrograms(major), "pg_dump", [...options, ...which], url);
  const [dump] = await Promise.all([text(child.stdout as Readable), ended(child, "pg_dump")]);
  return { catalog, migration: migrationText(dump, catalog) };
}

/** What the author has to decide. */
function advice({ policies, others }: Catalog): string[] {
  const named = others.filter((name) => !platformSchemas.includes(name));
  return [
    ...(named.length > 0 ? [`Not read: the tables of ${named.join(", ")}. Add --schema for each that you need.`] : []),
    ...(policies > 0
      ? [`Policies were left out (${policies}): they name roles that svc does not use. Write yours in the schema.`]
      : []),
    "No caller sees a row until you give its table a policy: @svc/core/docs/how-to/existing-database.md",
  ];
}
