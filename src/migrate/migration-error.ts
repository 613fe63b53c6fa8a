/** The errors of `migrate.ts`. */
import pg from "pg";

/** Names the file and the place of a failure, with a remedy. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
  readonly hint: string | undefined;
  /** The file that failed, as `scope/migrations/…` or `scope/sql/…`. */
  readonly file: string | undefined;

  constructor(message: string, options: { hint?: string; cause?: unknown; file?: string } = {}) {
    super(options.hint ? `${message}\n  ${options.hint}` : message, { cause: options.cause });
    this.hint = options.hint;
    this.file = options.file;
  }
}

/**
 * The error of a file that failed, with the line and its text: `svc dev` deletes a generated file that failed.
 *
 * @param path of the file, in its scope
 */
export function migrationFailed(path: string, text: string, error: unknown): MigrationError {
  if (!(error instanceof pg.DatabaseError))
    return new MigrationError(`${path} failed: ${error}`, { cause: error, file: path });
  const line = lineOf(text, error);
  const place = `${path.replace(/^application\//, "")}${line === 0 ? "" : `:${line}`}`;
  const source = line === 0 ? "" : `\n    ${text.split("\n")[line - 1]?.trim().slice(0, 160)}`;
  const isLater = error.code === "42883" && /\bmigrations\//.test(path);
  const isLanguage = error.code === "42704" && path.endsWith("sql/search.sql");
  const hint = isLater ? laterFunction : isLanguage ? unknownLanguage : error.hint;
  const options = { ...(hint && { hint }), cause: error, file: path };
  return new MigrationError(`${place}: ${error.message}${source}`, options);
}

/**
 * PostgreSQL gives no position for the expression of a policy: then the first line with the name in its message.
 *
 * @returns from 1; 0 when it is not known
 */
function lineOf(text: string, { position, message }: pg.DatabaseError): number {
  const [, name] = /"([^"]+)"/.exec(message) ?? [];
  const end = position === undefined ? (name ? text.indexOf(name) : -1) : Number(position) - 1;
  return end < 0 ? 0 : text.slice(0, end + 1).split("\n").length;
}

const unknownLanguage =
  "A language of searchable(…) does not exist in this database: use one that \\dF in psql lists, such as english, german or simple.";

const laterFunction =
  "sql/ is applied after the migrations. Create the function in this migration, above its first use. Or delete the migration with its snapshot and generate it again: svc then copies the functions that policies call from sql/.";
