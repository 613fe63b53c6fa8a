/**
 * Brings a database to the state of the files: the platform's `migrations/` and `sql/`, then the application's. Each of the two
 * scopes is one transaction: a crash or an error leaves the scope unchanged. So a slow index of the application does not lock the
 * platform's tables, which sign-in needs. Of two concurrent migrators, the second waits and then finds nothing to do.
 * Next hop: `migration-files.ts` reads the folders; `sql/README.md` states the order.
 */
import type pg from "pg";
import { installQueue } from "../jobs/queue.ts";
import { withClient } from "../postgres/with-client.ts";
import { applyRoles } from "./apply-roles.ts";
import { type AppliedFile, checkApplication } from "./check-application.ts";
import { fingerprintsIn, generatedFunctions } from "./generated-functions.ts";
import {
  appliesApplication,
  type Checksums,
  checksum,
  compareLedger,
  type Folders,
  isCurrent,
  isNew,
  type Ledger,
  noteApplied,
  readLedger,
  recordApplied,
  refusedFor,
  type Scope,
  scopes,
  tellMigrated,
} from "./ledger.ts";
import { besideApplied, MigrationError, migrationFailed } from "./migration-error.ts";
import { type MigrationFile, readFolder, refuseTwins } from "./migration-files.ts";
import { type Patience, withLocks } from "./migration-locks.ts";
import { watchRewrites } from "./rewrites.ts";
import { checkDeferred, refuseTransactionControl } from "./transaction-control.ts";

export interface MigrateOptions extends Folders, Patience {
  /** Connection string of an administrator: may create roles and extensions, or already has them. */
  adminUrl: string;
  /** Stops after the first n platform migrations, without later files of `sql/`, for tests. (Default: everything is applied) */
  platformMigrations?: number;
  /** Applies every file of `sql/` again, even if unchanged. This reverts manual changes. */
  again?: boolean;
  /**
   * Refuses a database that newer files have migrated: these files would replace newer functions with older ones. (Default: false)
   */
  refuseNewer?: boolean;
  /** Refuses migrations of the application that rewrite a table with rows while processes serve. (Default: false) */
  refuseRewrites?: boolean;
  /** Does nothing if the database has exactly the files of these checksums; manual changes are not looked for. */
  unless?: Checksums | undefined;
}

/**
 * Applies pending files.
 *
 * @returns the files that were applied, in order, as `scope/path`; empty when there was nothing to do
 * @throws MigrationError when a file fails, or when a migration was edited after it had been applied
 * @throws DefinitionError when a new migration has the number of another one
 */
export const migrate = (options: MigrateOptions): Promise<string[]> =>
  withClient(options.adminUrl, "svc migrate", async (client) => {
    const applied: string[] = [];
    // `raise warning` of a file (01000). PostgreSQL's own are not shown: on managed hosts one for each column of pg_settings.
    client.on("notice", ({ code, message }) => code === "01000" && options.report?.(`warning: ${message}`));
    if (options.unless && (await isCurrent(client, options.unless))) return applied;
    for (const { scope } of scopes(options)) {
      const files = await withLocks(client, options, (limit) =>
        new Migration(client, options, limit).run([scope]),
      ).catch(async (error) => {
        if (applied.length === 0) throw error;
        await client
          .query("rollback")
          .then(() => tellMigrated(client))
          .catch(() => {}); // a lost connection
        throw besideApplied(error);
      });
      await client.query("commit");
      applied.push(...files);
    }
    return applied;
  });

/**
 * Applies pending files, calls `look` and rolls everything back, including the server's roles. Both scopes share one
 * transaction here.
 *
 * @throws MigrationError as `migrate` does
 */
export const rehearseMigration = <T>(options: MigrateOptions, look: (client: pg.Client) => Promise<T>): Promise<T> =>
  withClient(options.adminUrl, "svc migrate", async (client) => {
    const all = scopes(options).map(({ scope }) => scope);
    await withLocks(client, options, (limit) => new Migration(client, options, limit).run(all));
    return look(client);
  });

class Migration {
  readonly #client: pg.Client;
  readonly #options: MigrateOptions;
  readonly #limitWaiting: () => Promise<unknown>;
  readonly #applied: string[] = [];
  readonly #files: AppliedFile[] = [];
  #hasLeft = true;

  constructor(client: pg.Client, options: MigrateOptions, limitWaiting: () => Promise<unknown>) {
    this.#client = client;
    this.#options = options;
    this.#limitWaiting = limitWaiting;
  }

  async run(wanted: readonly Scope[]): Promise<string[]> {
    await this.#refuseReadOnly();
    if (this.#options.refuseNewer) await this.#refuseNewer();
    for (const { scope, folder } of scopes(this.#options)) {
      if (!wanted.includes(scope)) continue;
      await this.#applyScope(scope, folder);
      if (scope === "application") await checkApplication(this.#client, this.#files, this.#applied);
      if (this.#options.platformMigrations === undefined) await this.#secure(scope);
    }
    return this.#applied;
  }

  async #refuseReadOnly(): Promise<void> {
    const { rows } = await this.#client.query("select current_setting('transaction_read_only')::boolean as it");
    if (!rows[0].it) return;
    throw new MigrationError("The server takes no changes: it is a standby, or default_transaction_read_only is on.", {
      hint: "Name the primary in DATABASE_ADMIN_URL; or switch the setting off, after making room if the disk was full.",
    });
  }

  /** Security settings that must hold after every scope. */
  async #secure(scope: Scope): Promise<void> {
    const { rows } = await this.#client.query(
      `select t.id::text as name, c.relispartition as is_partition
         from svc_private.secure_tables() as t (id) join pg_catalog.pg_class c on c.oid = t.id`,
    );
    for (const { name, is_partition } of rows) {
      if (name === "graphile_worker.migrations") continue; // the library secures its other tables itself
      this.#options.report?.(
        `secured ${name}: it had no row-level security, and now denies all access ${is_partition ? "except through its table" : "until it has a policy"}`,
      );
    }
    if (scope === "platform") {
      const { rows } = await this.#client.query("select name from svc_private.renew_search()");
      for (const { name } of rows) this.#options.report?.(`indexed ${name} again: the index has a new form`);
    }
    const { application } = this.#options;
    if (scope === "application" && application) await this.#dropUnwrittenCrud(application);
    // After the line above, which may have revoked privileges. Only for files applied now: drift stays detectable.
    const policies = this.#applied.filter((path) => path.startsWith(`${scope}/sql/policies/`));
    await this.#client.query(
      `update svc_private.applied_sql a set state = svc_private.access_state(substring(a.path from '^policies/(.*)\\.sql$'))
        where a.scope = $1 and $1 || '/sql/' || a.path = any ($2)`,
      [scope, policies],
    );
  }

  async #refuseNewer(): Promise<void> {
    const newer = refusedFor(await compareLedger(this.#client, this.#options));
    if (newer.length === 0) return;
    throw new MigrationError(`Newer files than these have migrated this database:\n  ${newer.join("\n  ")}`, {
      hint: "Deploy the newer version. Or pass --allow-older to replace its functions with the older ones of these files.",
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
    const written = (await readFolder(`${application}/sql`)).flatMap(({ text }) => fingerprintsIn(text));
    const { rows } = await this.#client.query("select svc_private.drop_unwritten_crud($1) as name", [written]);
    for (const { name } of rows) this.#options.report?.(`dropped ${name}: no file of sql/crud defines it any more`);
  }

  async #applyScope(scope: Scope, folder: string): Promise<void> {
    const ledger = await readLedger(this.#client);
    const limit = scope === "platform" ? this.#options.platformMigrations : undefined;
    const migrations = (await readFolder(`${folder}/migrations`)).slice(0, limit);
    const repeatable = order(await readFolder(`${folder}/sql`));

    const fresh = migrations.filter((file) => isNew(scope, file, ledger.migrations));
    const paths = migrations.map(({ path }) => path);
    refuseTwins(paths, (path) => fresh.some((file) => file.path === path));
    // A migration may have removed objects of sql/: a dropped table loses its policies silently.
    const edited = (file: MigrationFile) => ledger.sql.get(`${scope}/${file.path}`) !== checksum(file.text);
    const changed = (file: MigrationFile) => this.#options.again || fresh.length > 0 || edited(file);

    const before = repeatable.before.filter(changed);
    const candidates = limit === undefined ? repeatable.between.filter(changed) : [];
    const after = limit === undefined ? repeatable.after.filter(changed) : [];
    for (const file of before) await this.#apply(scope, "sql", file, "administrator");
    await this.#leaveFile();
    await this.#limitWaiting();
    if (scope === "platform" && limit === undefined) await this.#installQueue();
    await this.#applyMigrations(scope, fresh);
    const isMade = this.#options.again ? () => false : await generatedFunctions(this.#client, fresh);
    const outdated = candidates.filter((file) => edited(file) || !isMade(file));
    const between = await this.#applyUnlessInForce(scope, outdated, ledger);
    for (const file of after) await this.#apply(scope, "sql", file, "administrator");
    await this.#leaveFile();

    if (limit === undefined) {
      const all = [...repeatable.before, ...repeatable.between, ...repeatable.after];
      await noteApplied(this.#client, scope, all);
    }
    // Recorded last: on a fresh database the first migration creates the ledger.
    const repeated = [...before, ...between, ...after];
    await recordApplied(this.#client, scope, repeated, fresh);
    if (limit !== undefined || repeated.length + fresh.length === 0) return;
    // Once is enough: where the application's files come next, they tell.
    if (scope === "application" || !(await appliesApplication(this.#client, this.#options)))
      await tellMigrated(this.#client);
  }

  async #applyMigrations(scope: Scope, fresh: readonly MigrationFile[]): Promise<void> {
    const isOwn = scope === "application";
    const refuseRewrites = isOwn && this.#options.refuseRewrites && (await watchRewrites(this.#client));
    for (const file of fresh) {
      await this.#apply(scope, "migrations", file, "owner");
      if (refuseRewrites) await refuseRewrites(`migrations/${file.path}`);
    }
    if (isOwn && fresh.length > 0) await checkDeferred(this.#client);
  }

  /** @returns the files that were applied */
  async #applyUnlessInForce(scope: Scope, files: readonly MigrationFile[], ledger: Ledger): Promise<MigrationFile[]> {
    const applied: MigrationFile[] = [];
    for (const file of files) {
      if (await this.#isInForce(file, ledger, `${scope}/${file.path}`)) continue;
      await this.#apply(scope, "sql", file, "owner");
      applied.push(file);
    }
    return applied;
  }

  /** Whether a policy file's objects already exist, so that applying it would only lock its table. */
  async #isInForce(file: MigrationFile, { sql, states }: Ledger, key: string): Promise<boolean> {
    const state = states.get(key);
    if (this.#options.again || !isPolicy(file) || !state || sql.get(key) !== checksum(file.text)) return false;
    await this.#leaveFile();
    const { rows } = await this.#client.query("select svc_private.access_state($1) as it", [tableOf(file)]);
    return rows[0].it === state;
  }

  async #apply(scope: Scope, kind: "migrations" | "sql", file: MigrationFile, as: "administrator" | "owner") {
    const path = `${scope}/${kind}/${file.path}`;
    refuseTransactionControl(path, file);
    try {
      await this.#enterFile(as);
      if (kind === "sql" && isPolicy(file))
        await this.#client.query("select svc_private.reset_policies($1::regclass)", [tableOf(file)]);
      if (kind === "migrations" && scope === "application")
        await this.#client.query("select svc_private.release_webhooks($1)", [file.text]);
      if (scope === "platform" && file.path === "roles.sql") await applyRoles(this.#client, file.text);
      else await this.#client.query(file.text);
    } catch (error) {
      throw migrationFailed(path, file.text, error);
    }
    this.#applied.push(path);
    if (scope === "application" && kind === "sql") this.#files.push({ path, text: file.text });
    this.#options.report?.(`applied ${path}`);
  }

  /** One round trip: a schema of 300 tables has as many files, and the database may be 20 ms away. */
  async #enterFile(as: "administrator" | "owner"): Promise<void> {
    this.#hasLeft = false;
    // A function may be created before another one that it calls: `checkFunctions` looks at them afterwards.
    await this.#client.query(`reset role; set local search_path = public, extensions;
      set local check_function_bodies = off; ${as === "owner" ? "set local role svc_owner" : ""}`);
  }

  /** Back to the administrator. Between two files `#enterFile` does it. */
  async #leaveFile(): Promise<void> {
    if (!this.#hasLeft) await this.#client.query("reset role");
    this.#hasLeft = true;
  }
}

const isPolicy = (file: MigrationFile) => file.path.startsWith("policies/");
const tableOf = (file: MigrationFile) => file.path.slice("policies/".length, -".sql".length);

/** Roles and schemas come first, privileges on PostgreSQL's own functions last. */
function order(files: MigrationFile[]) {
  const [first, last] = [["roles.sql", "schemas.sql"], ["grants.sql"]];
  // PostgreSQL resolves functions in policies at once, but those in function bodies later.
  const rest = files.filter((file) => !first.includes(file.path) && !last.includes(file.path));
  return {
    before: files.filter((file) => first.includes(file.path)),
    between: [...rest.filter((file) => !isPolicy(file)), ...rest.filter(isPolicy)],
    after: files.filter((file) => last.includes(file.path)),
  };
}
