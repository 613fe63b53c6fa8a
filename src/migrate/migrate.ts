/**
 * Brings a database to the state that the files describe: the platform's `migrations/` and `sql/`, then the
 * application's. One transaction for each of the two scopes: a crash in the middle of a scope, or an error in its last file,
 * leaves that scope as it was before. So a long index of the application's does not hold the platform's tables, which sign-in
 * needs. Two migrators at once: the second waits for the first and then finds nothing to do.
 * Next hop: `migration-files.ts` reads the folders; `sql/README.md` states the order.
 */
import pg from "pg";
import { installQueue } from "../jobs/queue.ts";
import { applyRoles } from "./apply-roles.ts";
import {
  checksum,
  type Ledger,
  migrationNames,
  noteApplied,
  readLedger,
  type Scope,
  scopes,
  unknownMigrations,
} from "./ledger.ts";
import { type MigrationFile, readFolder } from "./migration-files.ts";
import { type Patience, withLocks } from "./migration-locks.ts";

/** Says which file failed, where in it, and what to do. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
  readonly hint: string | undefined;

  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(options.hint ? `${message}\n  ${options.hint}` : message, { cause: options.cause });
    this.hint = options.hint;
  }
}

export interface MigrateOptions extends Patience {
  /** Connection string of an administrator: may create roles and extensions, or has been given them. */
  adminUrl: string;
  /** Folder that holds the platform's `migrations/` and `sql/`. */
  platform: string;
  /** The application's root; its `migrations/` and `sql/` may be absent. */
  application?: string;
  /** Called with one line per applied file, and whenever it gives way to others. */
  report?: (line: string) => void;
  /**
   * Stops after the first n of the platform's migrations, without the files of `sql/` that follow them: the state from
   * which an upgrade is rehearsed. (Default: everything is applied)
   */
  platformMigrations?: number;
  /** Applies every file of `sql/` again, as if its text were new: what was changed by hand is as it is written. */
  again?: boolean;
  /** Refuses a database that newer files have migrated: these would put older functions in place of theirs. (Default: false) */
  refuseNewer?: boolean;
}

/**
 * Applies what is new.
 *
 * @returns the files that were applied, in order, as `scope/path`; empty when there was nothing to do
 * @throws MigrationError when a file fails, or when a migration was edited after it had been applied
 */
export const migrate = (options: MigrateOptions): Promise<string[]> =>
  connected(options, async (client) => {
    const applied: string[] = [];
    for (const { scope } of scopes(options)) {
      const files = await withLocks(client, options, (limit) =>
        new Migration(client, options, limit).run([scope]),
      ).catch((error) => {
        throw applied.length > 0 ? besideApplied(error) : error;
      });
      await client.query("commit");
      applied.push(...files);
    }
    return applied;
  });

/**
 * Applies what is new, looks at the result and takes it all back: the database, and the roles that it shares with its
 * server, are as before. Both scopes share one transaction here.
 *
 * @throws MigrationError as `migrate` does
 */
export const rehearseMigration = <T>(options: MigrateOptions, look: (client: pg.Client) => Promise<T>): Promise<T> =>
  connected(options, async (client) => {
    const all = scopes(options).map(({ scope }) => scope);
    await withLocks(client, options, (limit) => new Migration(client, options, limit).run(all));
    return look(client);
  });

async function connected<T>(options: MigrateOptions, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: options.adminUrl, application_name: "svc migrate" });
  await client.connect();
  try {
    return await work(client);
  } finally {
    // An open transaction ends with its connection.
    await client.end();
  }
}

/** The application's scope failed after the platform's had been committed. */
function besideApplied(error: unknown): unknown {
  if (error instanceof Error) {
    error.message += "\n  The platform's files have been applied; the application's are as they were before.";
  }
  return error;
}

class Migration {
  readonly #client: pg.Client;
  readonly #options: MigrateOptions;
  readonly #limitWaiting: () => Promise<unknown>;
  readonly #applied: string[] = [];

  constructor(client: pg.Client, options: MigrateOptions, limitWaiting: () => Promise<unknown>) {
    this.#client = client;
    this.#options = options;
    this.#limitWaiting = limitWaiting;
  }

  async run(wanted: readonly Scope[]): Promise<string[]> {
    if (this.#options.refuseNewer) await this.#refuseNewer();
    for (const { scope, folder } of scopes(this.#options)) {
      if (!wanted.includes(scope)) continue;
      await this.#applyScope(scope, folder);
      if (this.#options.platformMigrations === undefined) await this.#secure(scope);
    }
    return this.#applied;
  }

  /** What holds after every scope, whatever its files say. */
  async #secure(scope: Scope): Promise<void> {
    const { rows } = await this.#client.query("select svc_private.secure_tables()::text as name");
    for (const { name } of rows) {
      if (name === "graphile_worker.migrations") continue; // the library secures its other tables itself
      this.#options.report?.(
        `secured ${name}: it had no row-level security, and denies everybody until it has a policy`,
      );
    }
    const { application } = this.#options;
    if (scope === "application" && application) await this.#dropUnwrittenCrud(application);
    // After the line above, which may have revoked something. Of what was applied now alone: a change by hand stays noticed.
    const policies = this.#applied.filter((path) => path.startsWith(`${scope}/sql/policies/`));
    await this.#client.query(
      `update svc_private.applied_sql a set state = svc_private.access_state(substring(a.path from '^policies/(.*)\\.sql$'))
        where a.scope = $1 and $1 || '/sql/' || a.path = any ($2)`,
      [scope, policies],
    );
  }

  async #refuseNewer(): Promise<void> {
    const unknown = unknownMigrations(await readLedger(this.#client), await migrationNames(this.#options));
    if (unknown.length === 0) return;
    throw new MigrationError(`This database has migrations that these files lack:\n  ${unknown.join("\n  ")}`, {
      hint:
        "A newer version has migrated it: deploy that one. To put the functions of these files in place of the newer ones " +
        "all the same: --allow-older.",
    });
  }

  async #installQueue(): Promise<void> {
    const revision = await installQueue(this.#client).catch((error) => {
      throw new MigrationError(`The queue's schema could not be brought up to date: ${error}`, { cause: error });
    });
    if (revision === null) return;
    this.#applied.push(`platform/queue at revision ${revision}`);
    this.#options.report?.(`applied platform/queue at revision ${revision}`);
  }

  async #dropUnwrittenCrud(application: string): Promise<void> {
    const written = (await readFolder(`${application}/sql`)).flatMap(({ text }) => [
      ...text.matchAll(/ svc:([0-9a-f]{16})'/g),
    ]);
    const { rows } = await this.#client.query("select svc_private.drop_unwritten_crud($1) as name", [
      written.map(([, fingerprint]) => fingerprint),
    ]);
    for (const { name } of rows) this.#options.report?.(`dropped ${name}: no file of sql/crud writes it any more`);
  }

  async #applyScope(scope: Scope, folder: string): Promise<void> {
    const ledger = await readLedger(this.#client);
    const limit = scope === "platform" ? this.#options.platformMigrations : undefined;
    const migrations = (await readFolder(`${folder}/migrations`)).slice(0, limit);
    const repeatable = order(await readFolder(`${folder}/sql`));

    const fresh = migrations.filter((file) => isNew(scope, file, ledger.migrations));
    // A migration may have rebuilt what a file of sql/ had set up: a dropped table loses its policies without a trace.
    const changed = (file: MigrationFile) =>
      this.#options.again || fresh.length > 0 || ledger.sql.get(`${scope}/${file.path}`) !== checksum(file.text);

    const before = repeatable.before.filter(changed);
    const candidates = limit === undefined ? repeatable.between.filter(changed) : [];
    const between: MigrationFile[] = [];
    const after = limit === undefined ? repeatable.after.filter(changed) : [];

    for (const file of before) await this.#apply(scope, "sql", file, "administrator");
    await this.#limitWaiting();
    if (scope === "platform" && limit === undefined) await this.#installQueue();
    for (const file of fresh) await this.#apply(scope, "migrations", file, "owner");
    for (const file of candidates) {
      if (await this.#isInForce(file, ledger, `${scope}/${file.path}`)) continue;
      await this.#apply(scope, "sql", file, "owner");
      between.push(file);
    }
    for (const file of after) await this.#apply(scope, "sql", file, "administrator");

    if (limit === undefined) {
      const all = [...repeatable.before, ...repeatable.between, ...repeatable.after];
      await noteApplied(this.#client, scope, all);
    }
    // Recorded last: on a fresh database the ledger itself is the first migration's work.
    for (const file of [...before, ...between, ...after]) {
      await this.#client.query(
        `insert into svc_private.applied_sql (scope, path, checksum) values ($1, $2, $3)
         on conflict (scope, path) do update set checksum = excluded.checksum, applied_at = excluded.applied_at`,
        [scope, file.path, checksum(file.text)],
      );
    }
    for (const file of fresh) {
      await this.#client.query(
        "insert into svc_private.applied_migrations (scope, name, checksum) values ($1, $2, $3)",
        [scope, file.path, checksum(file.text)],
      );
    }
  }

  /** Whether a file of policies/ would set up what is there already, and lock its table for that. */
  async #isInForce(file: MigrationFile, { sql, states }: Ledger, key: string): Promise<boolean> {
    const state = states.get(key);
    if (this.#options.again || !isPolicy(file) || !state || sql.get(key) !== checksum(file.text)) return false;
    const { rows } = await this.#client.query("select svc_private.access_state($1) as it", [tableOf(file)]);
    return rows[0].it === state;
  }

  async #apply(scope: Scope, kind: "migrations" | "sql", file: MigrationFile, as: "administrator" | "owner") {
    const path = `${scope}/${kind}/${file.path}`;
    try {
      await this.#client.query("set local search_path = public, extensions");
      // A function may be created before the one that it calls.
      await this.#client.query("set local check_function_bodies = off");
      if (as === "owner") await this.#client.query("set local role svc_owner");
      if (kind === "sql" && isPolicy(file)) {
        await this.#client.query("select svc_private.reset_policies($1::regclass)", [tableOf(file)]);
      }
      if (scope === "platform" && file.path === "roles.sql") await applyRoles(this.#client, file.text);
      else await this.#client.query(file.text);
      await this.#client.query("reset role");
    } catch (error) {
      throw describe(path, file.text, error);
    }
    this.#applied.push(path);
    this.#options.report?.(`applied ${path}`);
  }
}

const isPolicy = (file: MigrationFile) => file.path.startsWith("policies/");
const tableOf = (file: MigrationFile) => file.path.slice("policies/".length, -".sql".length);

/** Roles and schemas before the migrations, privileges on PostgreSQL's own functions after everything. */
function order(files: MigrationFile[]) {
  const first = ["roles.sql", "schemas.sql"];
  const last = ["grants.sql"];
  // Policies call functions, and PostgreSQL looks for those at once; it looks into the bodies of functions later.
  const rest = files.filter((file) => !first.includes(file.path) && !last.includes(file.path));
  return {
    before: files.filter((file) => first.includes(file.path)),
    between: [...rest.filter((file) => !isPolicy(file)), ...rest.filter(isPolicy)],
    after: files.filter((file) => last.includes(file.path)),
  };
}

function isNew(scope: Scope, file: MigrationFile, ledger: Map<string, string>): boolean {
  const recorded = ledger.get(`${scope}/${file.path}`);
  if (recorded === undefined) return true;
  if (recorded === checksum(file.text)) return false;
  throw new MigrationError(`${scope}/migrations/${file.path} was edited after it had been applied.`, {
    hint: "Restore its text and write a new migration for the change.",
  });
}

function describe(path: string, text: string, error: unknown): MigrationError {
  if (!(error instanceof pg.DatabaseError)) return new MigrationError(`${path} failed: ${error}`, { cause: error });
  const position = Number(error.position);
  const line = position > 0 ? `:${text.slice(0, position).split("\n").length}` : "";
  const isLater = error.code === "42883" && /\bmigrations\//.test(path);
  const isLanguage = error.code === "42704" && path.endsWith("sql/search.sql");
  const hint = isLater ? laterFunction : isLanguage ? unknownLanguage : error.hint;
  return new MigrationError(`${path}${line}: ${error.message}`, { ...(hint && { hint }), cause: error });
}

const unknownLanguage =
  "A language of searchable(…) is none of this database's: name one that \\dF of psql shows, such as english, german or simple.";

const laterFunction =
  "sql/ is applied after the migrations. Put the function into this one, above what calls it; or delete the file with its snapshot and generate it again: it brings along what policies ask, where sql/ has it.";
