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

/** The error of a file that failed, with the line. @param path of the file, in its scope */
export function migrationFailed(path: string, text: string, error: unknown): MigrationError {
  if (!(error instanceof pg.DatabaseError))
    return new MigrationError(`${path} failed: ${error}`, { cause: error, file: path });
  const position = Number(error.position);
  const line = position > 0 ? `:${text.slice(0, position).split("\n").length}` : "";
  const isLater = error.code === "42883" && /\bmigrations\//.test(path);
  const isLanguage = error.code === "42704" && path.endsWith("sql/search.sql");
  const hint = isLater ? laterFunction : isLanguage ? unknownLanguage : error.hint;
  return new MigrationError(`${path}${line}: ${error.message}`, { ...(hint && { hint }), cause: error, file: path });
}

const unknownLanguage =
  "A language of searchable(…) does not exist in this database: use one that \\dF in psql lists, such as english, german or simple.";

const laterFunction =
  "sql/ is applied after the migrations. Create the function in this migration, above its first use. Or delete the migration with its snapshot and generate it again: svc then copies the functions that policies call from sql/.";
