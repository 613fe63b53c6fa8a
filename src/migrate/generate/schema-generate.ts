/**
 * `svc migrate generate`: compares the application's schema with the last snapshot of its migrations, and writes the
 * next migration. Needs no database.
 * Next hops: `schema-snapshot.ts` describes the schema, `schema-migration.ts` writes the SQL.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checkScopeNames } from "../../app/check-scope-names.ts";
import { loadAuth } from "../../app/load-app.ts";
import { loadSchemaFiles } from "../../app/schema-files.ts";
import type { EffectiveConfig } from "../../config/config.ts";
import { DefinitionError } from "../../kit/definition-error.ts";
import { checkOrganizations } from "../../organizations/check-organizations.ts";
import { short } from "../../postgres/schema-names.ts";
import { readFunctions } from "./schema-functions.ts";
import { type History, nextNumber, readHistory, snapshotFile, writeSnapshot } from "./schema-history.ts";
import { writeMigration } from "./schema-migration.ts";
import type { Answers } from "./schema-renames.ts";
import { emptySnapshot, takeSnapshot } from "./schema-snapshot.ts";
import type { Declared, Snapshot } from "./snapshot.ts";

export interface GenerateOptions extends Answers {
  /** Words for the file name. (Default: derived from the changes) */
  name?: string | undefined;
  /** Writes only the snapshot, when existing migrations already match the schema. */
  baseline?: boolean;
  /**
   * Refuses a migration with statements that lose data or may fail (marked `-- Loses` or `-- Fails`), and writes
   * nothing beside hand-written migrations without a baseline. Conversions of columns (`-- Rewrites`) and removed
   * values of enums (`-- Takes`) are written.
   */
  careful?: boolean;
}

/**
 * @returns the files that were written, relative to the application; empty when there was nothing to generate
 * @throws DefinitionError when the schema cannot be read, a rename is unclear, or hand-written migrations have no baseline yet
 */
export async function generateMigration(config: EffectiveConfig, options: GenerateOptions): Promise<string[]> {
  const history = await readHistory(join(config.cwd, "migrations"));
  const declared = await loadDeclared(config);
  const after = await takeSnapshot(declared, history.snapshot?.value ?? null);
  if (options.baseline) return writeBaseline(history, after);

  if (history.hasTables && !history.snapshot) {
    if (options.careful) return [];
    throw new DefinitionError("The migrations were written by hand: there is no snapshot to compare the schema with.", {
      hint: `If ${history.migrations.at(-1)} and the migrations before it create everything that the schema declares, run once: svc migrate generate --baseline`,
    });
  }
  const before = history.snapshot?.value ?? (await emptySnapshot());
  const functions = await readFunctions(join(config.cwd, "sql"), history.folder);
  const text = await writeMigration(before, after, options, functions);
  if (text === null) return [];
  if (options.careful) refuseRisks(text);

  const number = nextNumber(history);
  const file = `${number}_${fileName(options.name, before, after)}.sql`;
  await mkdir(history.folder, { recursive: true });
  await writeFile(join(history.folder, file), text, { flag: "wx" });
  await writeSnapshot(history, number, after);
  return [`migrations/${file}`, `migrations/${snapshotFile(number)}`];
}

/** @throws DefinitionError that lists what would be lost or might fail */
function refuseRisks(text: string): void {
  const risks = text.match(/^-- (Loses|Fails) .*$/gm);
  if (!risks) return;
  const list = risks.map((line) => line.replace("--", " ")).join("\n");
  throw new DefinitionError(`The schema has changed, and the migration for it needs a decision:\n${list}`, {
    hint: "Write it with `svc migrate generate`, read it, and run `svc prepare` again (`svc dev` does at the next save of a file); or undo the change.",
  });
}

async function writeBaseline(history: History, after: Snapshot): Promise<string[]> {
  const { last, snapshot } = history;
  if (last === null) throw new DefinitionError("There are no migrations, so there is nothing to start from.");
  if (snapshot?.number === last) {
    throw new DefinitionError(`migrations/${snapshotFile(last)} already exists.`, {
      hint: "A baseline is for migrations that were written by hand after the last snapshot.",
    });
  }
  await writeSnapshot(history, last, after);
  return [`migrations/${snapshotFile(last)}`];
}

/** Loads the schema files and auth.ts, but not the procedures: their tables may not exist yet. */
async function loadDeclared(config: EffectiveConfig): Promise<Declared> {
  const files = await loadSchemaFiles(config);
  // Keyed by file, because two files may export the same name.
  const exported = files.flatMap(({ exports }, index) =>
    Object.entries(exports).map(([name, value]) => [`${index}.${name}`, value]),
  );
  const declared = { schema: Object.fromEntries(exported), auth: await loadAuth(config) };
  checkOrganizations(declared);
  checkScopeNames(declared);
  return declared;
}

function fileName(words: string | undefined, before: Snapshot, after: Snapshot): string {
  const slug = slugOf(words ?? "").replace(/^_+|_+$/g, "");
  if (slug) return slug.slice(0, 60);
  const tables = new Set([...Object.keys(before.tables), ...Object.keys(after.tables)]);
  const changed = [...tables].filter((key) => {
    const state = ({ tables, svc }: Snapshot) => JSON.stringify([tables[key], svc.grants[key]]);
    return state(before) !== state(after);
  });
  const [only = ""] = changed;
  if (changed.length !== 1) return Object.keys(before.tables).length === 0 ? "create_tables" : "change_schema";
  const verb = only in before.tables ? (only in after.tables ? "change" : "drop") : "create";
  return `${verb}_${slugOf(short(only))}`;
}

const slugOf = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, "_");
