/**
 * The functions that new policies and views call. `sql/` is applied after the migrations, but both can only name an existing
 * function. So the first migration whose policies or views call a function also creates it. Also the functions that take or return an
 * enum that is made again: its old type cannot be dropped while they are there, and `sql/` creates them again.
 * Next hop: `schema-migration.ts` writes them above these.
 */
import { mentions } from "../../postgres/schema-names.ts";
import { type MigrationFile, readFolder } from "../migration-files.ts";
import { platformSchemas } from "./schema-snapshot.ts";

export interface Functions {
  /** Files of `sql/` that create functions, with the functions' names including schemas. */
  files: { path: string; text: string; names: string[] }[];
  /** Functions that migrations already create. */
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
 * @param asking statements that create policies and views
 * @returns statements that must come first: files of `sql/`, unchanged, and a warning for each function without a file
 */
export function askedBy(asking: readonly string[], { files, made }: Functions): string[] {
  const statements: string[] = [];
  const seen = new Set(made);
  const take = (name: string) => {
    const file = files.find(({ names }) => names.includes(name));
    if (!file || seen.has(name)) return;
    for (const one of file.names) seen.add(one);
    for (const one of calledBy(file.text)) take(one);
    statements.push(`-- sql/${file.path}\n${file.text.trim()}\n`);
  };
  for (const text of asking) {
    for (const name of calledBy(text)) {
      take(name);
      // A name without a schema may be PostgreSQL's own function.
      if (!seen.has(name) && text.toLowerCase().includes(name)) statements.push(missing(name));
      seen.add(name);
    }
  }
  return statements;
}

/** @param types that are recreated @returns the functions of `sql/` that must be dropped before them */
export const takersOf = (types: readonly string[], { files }: Functions): string[] =>
  files.flatMap(({ text }) =>
    text
      .split(/^(?=\s*create\s)/im)
      .filter((one) => types.some((type) => mentions(withoutBody(one), type)))
      .flatMap((one) => madeBy({ text: one })),
  );

/** PostgreSQL reads a body in quotes when it runs: it depends on nothing. */
const withoutBody = (text: string) => text.replace(/\bas\s+('|\$)[\s\S]*/i, "");

const missing = (name: string) =>
  `-- Fails unless there is a function ${name}: make it in sql/${name.replace(/^public\./, "")}.sql before you generate this.`;

const name = String.raw`((?:[a-z_]\w*\.)?[a-z_]\w*)\s*\(`;

/** Unquoted names, which are nearly all. Authors handle quoted ones themselves. */
const madeBy = ({ text }: Pick<MigrationFile, "text">): string[] =>
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
