/**
 * The functions that new policies ask. `sql/` is applied after the migrations, and a policy cannot name what is not there
 * yet: a function that no migration has made so far comes along with the first policies that ask it.
 * Next hop: `schema-migration.ts` writes them above these.
 */
import { type MigrationFile, readFolder } from "../migration-files.ts";
import { platformSchemas } from "./schema-snapshot.ts";

/** What an application's folders say of functions. */
export interface Functions {
  /** Files of `sql/` that make functions, with the names of these, schemas included. */
  files: { path: string; text: string; names: string[] }[];
  /** Those that migrations make already. */
  made: ReadonlySet<string>;
}

/** @param sql, migrations the application's folders */
export async function readFunctions(sql: string, migrations: string): Promise<Functions> {
  const files = (await readFolder(sql)).filter(({ path }) => !path.startsWith("crud/"));
  return {
    files: files.map((file) => ({ ...file, names: madeBy(file) })).filter(({ names }) => names.length > 0),
    made: new Set((await readFolder(migrations)).flatMap(madeBy)),
  };
}

/**
 * @param policies statements that create them
 * @returns statements that have to come before these: files of `sql/` as they are, and a warning of what no file makes
 */
export function askedBy(policies: readonly string[], { files, made }: Functions): string[] {
  const statements: string[] = [];
  const seen = new Set(made);
  const take = (name: string) => {
    const file = files.find(({ names }) => names.includes(name));
    if (!file || seen.has(name)) return;
    for (const one of file.names) seen.add(one);
    for (const one of calledBy(file.text)) take(one);
    statements.push(`-- sql/${file.path}\n${file.text.trim()}\n`);
  };
  for (const text of policies) {
    for (const name of calledBy(text)) {
      take(name);
      // One that is written without a schema may be PostgreSQL's own.
      if (!seen.has(name) && text.toLowerCase().includes(name)) statements.push(missing(name));
      seen.add(name);
    }
  }
  return statements;
}

const missing = (name: string) =>
  `-- Fails unless there is a function ${name}: make it in sql/${name.replace(/^public\./, "")}.sql before you generate this.`;

const name = String.raw`((?:[a-z_]\w*\.)?[a-z_]\w*)\s*\(`;

/** Names without quotes, which are nearly all; others are left to their author. */
const madeBy = ({ text }: MigrationFile): string[] =>
  [...text.matchAll(new RegExp(String.raw`^\s*create\s+(?:or\s+replace\s+)?function\s+${name}`, "gim"))].map(qualified);

function calledBy(text: string): string[] {
  const called = [...text.matchAll(new RegExp(String.raw`(?<![\w."])${name}`, "gi"))].map(qualified);
  return [...new Set(called)].filter((one) => !foreign.includes(one.split(".")[0] ?? ""));
}

const foreign = [...platformSchemas, "pg_catalog"];

function qualified([, written = ""]: RegExpMatchArray): string {
  const lower = written.toLowerCase();
  return lower.includes(".") ? lower : `public.${lower}`;
}
