/**
 * An application whose schema changes, in memory: generates its migrations, applies them with the real migrator, and
 * reads the result from the catalog.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import type { AuthDefinition } from "../../src/contract/auth.ts";
import { writeMigration } from "../../src/migrate/generate/schema-migration.ts";
import type { Answers } from "../../src/migrate/generate/schema-renames.ts";
import { emptySnapshot, takeSnapshot } from "../../src/migrate/generate/schema-snapshot.ts";
import type { Snapshot } from "../../src/migrate/generate/snapshot.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { execute } from "../support/admin.ts";
import { Database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

export interface Version extends Partial<Answers> {
  schema: Record<string, unknown>;
  auth?: AuthDefinition;
}

/** A change from one schema to another. */
export interface Change {
  from: Version;
  to: Version;
  /** SQL for rows before the change. */
  seed?: string;
  /** Expected rows afterwards. */
  rows?: { query: string; are: unknown[] };
  /** Patterns that the migration must contain. */
  says?: RegExp[];
}

const platform = new Database();
let folder: string;

/** Prepares a database with only the platform, which each case clones. Call it at the top of the file. */
export function evolution(): void {
  beforeAll(async () => {
    await platform.create();
    await leavePlatform(platform);
    await mkdir(join(root, ".svc"), { recursive: true });
    folder = await mkdtemp(join(root, ".svc/evolution-"));
  });
  afterAll(async () => {
    await platform.drop();
    await rm(folder, { recursive: true, force: true });
  });
}

/**
 * Takes the fixture out of a clone of the template. A migration from nothing would run sql/roles.sql, and roles belong to
 * the whole server: two such files at once could meet there.
 */
export async function leavePlatform(db: Database): Promise<void> {
  // Not db.sql(): a database with open connections cannot be cloned.
  const leave = `
    do $$
    declare
      found text;
    begin
      for found in select format('table %s', oid::regclass) from pg_class
                    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') loop
        execute 'drop ' || found || ' cascade';
      end loop;
      for found in select format('type %s', oid::regtype) from pg_type
                    where typnamespace = 'public'::regnamespace and typtype = 'e' and typowner = 'svc_owner'::regrole loop
        execute 'drop ' || found;
      end loop;
      for found in select format('function %s', oid::regprocedure) from pg_proc
                    where pronamespace = 'svc_crud'::regnamespace loop
        execute 'drop ' || found;
      end loop;
      delete from svc_private.applied_migrations where scope = 'application';
      delete from svc_private.applied_sql where scope = 'application';
    end
    $$`;
  await execute(db.url("admin"), leave);
}

/** The migrations from an empty schema through all versions; null where a version changed nothing. */
export async function migrationsOf(...versions: Version[]): Promise<(string | null)[]> {
  const texts: (string | null)[] = [];
  let previous: Snapshot = await emptySnapshot();
  for (const { schema, auth = {}, renames = [], drops = [] } of versions) {
    const next = stored(await takeSnapshot({ schema, auth }, previous));
    texts.push(await writeMigration(previous, next, { renames, drops }));
    previous = next;
  }
  return texts;
}

/** The snapshot as read back from its file. */
const stored = (snapshot: Snapshot): Snapshot => JSON.parse(JSON.stringify(snapshot));

/** A database with the platform, dropped when the test ends. */
export async function emptyDatabase(): Promise<Database> {
  const db = new Database();
  await db.create(platform.name);
  // As sql/schemas.sql does: a template does not include privileges on the database itself.
  await db.sql(`grant create on database ${db.name} to svc_owner`);
  onTestFinished(() => db.drop());
  return db;
}

/** Applies the texts as the application's migrations, all at once. */
export async function apply(db: Database, texts: readonly (string | null)[]): Promise<void> {
  const application = await mkdtemp(join(folder, "app-"));
  await mkdir(join(application, "migrations"));
  for (const [index, text] of texts.entries()) {
    if (text !== null) await writeFile(join(application, "migrations", `000${index + 1}_step.sql`), text);
  }
  await migrate({ adminUrl: db.url("admin"), platform: root, application });
}

/**
 * Upgrades a database with rows, and expects the state of a fresh one: from the same migrations, and from the schema
 * alone, which shows that the difference left nothing out.
 */
export async function expectSame({ from, to, seed, rows, says = [] }: Change): Promise<void> {
  const answered = { ...to, renames: [], drops: [] };
  const [first, second, third] = await migrationsOf(from, to, answered);
  expect(second).not.toBeNull();
  expect(third).toBeNull(); // nothing is left to change
  for (const words of says) expect(second).toMatch(words);

  const upgraded = await emptyDatabase();
  await apply(upgraded, [first ?? ""]);
  if (seed) await upgraded.sql(seed);
  await apply(upgraded, [first ?? "", second ?? ""]);
  const state = await facts(upgraded);
  if (rows) expect(await upgraded.sql(rows.query)).toEqual(rows.are);

  for (const texts of [[first ?? "", second ?? ""], await migrationsOf(answered)]) {
    const fresh = await emptyDatabase();
    await apply(fresh, texts);
    expect(state).toEqual(await facts(fresh));
  }
}

/**
 * All properties that a migration may change, one fact per line, in an order that does not depend on history: tables,
 * columns, constraints, indexes, types, sequences, views and their options, row-level security, policies, privileges.
 */
export async function facts(db: Database): Promise<string[]> {
  const rows = await db.sql<{ fact: string }>(`
    with relations as (
      select c.* from pg_class c
       where c.relnamespace in ('public'::regnamespace, 'auth'::regnamespace)
    )
    select format('%s %s rls %s options %s', relkind, oid::regclass, relrowsecurity, reloptions) as fact
      from relations where relkind <> 'i'
    union all
    select format('column %s.%s %s%s default %s identity %s generated %s', r.oid::regclass, a.attname,
             format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' end,
             pg_get_expr(d.adbin, d.adrelid), a.attidentity, a.attgenerated)
      from relations r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
     where r.relkind in ('r', 'v', 'm')
    union all
    select format('constraint %s %s %s', r.oid::regclass, k.conname, pg_get_constraintdef(k.oid))
      from relations r join pg_constraint k on k.conrelid = r.oid where k.contype <> 'n'
    union all
    select pg_get_indexdef(oid) from relations where relkind = 'i'
    union all
    select 'view ' || oid::regclass || pg_get_viewdef(oid) from relations where relkind in ('v', 'm')
    union all
    select format('policy %s %s %s %s %s %s %s', p.tablename, p.policyname, p.permissive, p.cmd, p.roles, p.qual, p.with_check)
      from pg_policies p where p.schemaname in ('public', 'auth')
    union all
    select format('grant %s on %s to %s', a.privilege_type, r.oid::regclass, a.grantee::regrole)
      from relations r, aclexplode(r.relacl) a where a.grantee <> r.relowner
    union all
    select format('grant %s (%s.%s) to %s', a.privilege_type, r.oid::regclass, t.attname, a.grantee::regrole)
      from relations r join pg_attribute t on t.attrelid = r.oid and not t.attisdropped, aclexplode(t.attacl) a
    union all
    select format('enum %s %s', e.enumtypid::regtype, string_agg(e.enumlabel, ', ' order by e.enumsortorder))
      from pg_enum e group by e.enumtypid
    union all
    select format('sequence %s %s owned by %s', s.seqrelid::regclass, s.seqtypid::regtype, d.refobjid::regclass)
      from pg_sequence s left join pg_depend d on d.objid = s.seqrelid and d.deptype in ('a', 'i') and d.refobjsubid > 0
    order by 1`);
  return rows.map(({ fact }) => fact);
}
