/**
 * How a database differs from what the files of `migrations/` and `sql/` describe: they are applied to an empty database
 * of the same server, both are described by `svc_private.list_facts()`, and the two descriptions are compared.
 * Next hop: `sql/catalog/list_facts.sql`; `src/cli/db/drift.ts` prints.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { type MigrateOptions, rehearseMigration } from "./migrate.ts";
import { withScratchDatabase } from "./scratch.ts";

/** A row of `svc_private.list_facts()`. */
export interface Fact {
  object: string;
  kind: string;
  part: string;
  definition: string;
}

export interface Difference {
  state: "missing" | "unexpected" | "differs";
  /** Such as `table public.tasks`. */
  object: string;
  /** Such as `policy` or `column`; `itself` when the whole object is missing or unexpected. */
  kind: string;
  /** The policy's, column's or role's name; empty where there is one of a kind. */
  part: string;
  /** Null when it is unexpected. */
  expected: string | null;
  /** Null when it is missing. */
  found: string | null;
  remedy: string;
}

type Files = Required<Pick<MigrateOptions, "adminUrl" | "platform" | "application">> & {
  /** DATABASE_SCRATCH_URL; null where an empty database is made on the same server. */
  scratchUrl: string | null;
};

/**
 * Changes nothing in the database, and nothing that outlives the call on its server.
 *
 * @throws MigrationError when the files cannot be applied to an empty database
 */
export async function findDrift(files: Files): Promise<Difference[]> {
  const [expected, found] = await Promise.all([describeFiles(files), describeDatabase(files.adminUrl)]);
  return compareFacts(expected, found);
}

/** What the files describe. @param files their `adminUrl` names the server on which an empty database is made */
export async function describeFiles(files: Files): Promise<Fact[]> {
  const facts = await withScratchDatabase(files.adminUrl, files.scratchUrl, (adminUrl) =>
    rehearseMigration({ ...files, adminUrl }, readFacts),
  );
  return withoutMemberships(facts, files.platform);
}

/** On any connection of an administrator, also within a transaction. */
export const readFacts = async (client: pg.Client): Promise<Fact[]> =>
  (await client.query<Fact>("select object, kind, part, definition from svc_private.list_facts()")).rows;

async function describeDatabase(adminUrl: string): Promise<Fact[]> {
  const client = new pg.Client({ connectionString: adminUrl, application_name: "svc db drift" });
  await client.connect();
  try {
    await client.query("begin read only");
    return await readFacts(client);
  } finally {
    await client.end();
  }
}

/**
 * Roles belong to the server: what a login was made a member of by hand is seen from the empty database too. `roles.sql`
 * restates attributes, and takes no membership away; what it should be is in the committed dump.
 */
async function withoutMemberships(described: Fact[], platform: string): Promise<Fact[]> {
  const dump = await readFile(join(platform, "sql/schema.dump.sql"), "utf8");
  const memberships = new Map<string, string>();
  for (const section of dump.split("\n\n")) {
    const role = section.match(/^-- (role \w+):/)?.[1];
    if (role) memberships.set(role, section);
  }
  return described.filter(
    ({ object, kind, part }) => kind !== "member of" || memberships.get(object)?.includes(`member of ${part}`),
  );
}

export function compareFacts(expected: readonly Fact[], found: readonly Fact[]): Difference[] {
  const wanted = byObject(expected);
  const present = byObject(found);
  return [...new Set([...wanted.keys(), ...present.keys()])].sort().flatMap((object) => {
    const before = wanted.get(object);
    const now = present.get(object);
    // Of a whole object one line says that it is missing or too much, not one for each of its columns.
    if (!before || !now) return [difference(object, before?.get(whole), now?.get(whole), { kind: "itself", part: "" })];
    return [...new Set([...before.keys(), ...now.keys()])]
      .filter((key) => before.get(key)?.definition !== now.get(key)?.definition)
      .map((key) => difference(object, before.get(key), now.get(key)));
  });
}

const keyOf = ({ kind, part }: Pick<Fact, "kind" | "part">) => `${kind} ${part}`;
const whole = keyOf({ kind: "itself", part: "" });

function byObject(facts: readonly Fact[]): Map<string, Map<string, Fact>> {
  const objects = new Map<string, Map<string, Fact>>();
  for (const fact of facts) {
    const known = objects.get(fact.object) ?? new Map<string, Fact>();
    objects.set(fact.object, known.set(keyOf(fact), fact));
  }
  return objects;
}

function difference(
  object: string,
  wanted: Fact | undefined,
  present: Fact | undefined,
  { kind, part }: Pick<Fact, "kind" | "part"> = (wanted ?? present) as Fact,
): Difference {
  const state = !wanted ? "unexpected" : !present ? "missing" : "differs";
  const expected = wanted?.definition ?? null;
  const found = present?.definition ?? null;
  return { state, object, kind, part, expected, found, remedy: remedyFor(state, object, kind) };
}

// What sql/ says anew whenever it is applied: functions, views, policies and grants of the platform, roles and schemas.
const repeatable =
  /^(function|view) (svc|svc_private|svc_crud|auth)\.|^(role|schema|database|default privileges|PostgreSQL's own)\b/;
const repeatableParts = ["policy", "grant", "comment"];
const platformTable = /^(table|sequence) (svc|svc_private|auth)\./;

function remedyFor(state: Difference["state"], object: string, kind: string): string {
  if (kind === "version")
    return "Update the extension (alter extension … update), here or where the files are applied.";
  const isRestated = repeatable.test(object) || (platformTable.test(object) && repeatableParts.includes(kind));
  // Policies and grants of a platform's table are taken away before its file says them again; other things are not.
  const isTakenAway = platformTable.test(object) && ["policy", "grant"].includes(kind);
  if (isRestated && (state !== "unexpected" || isTakenAway)) return "`svc migrate --again` restores it.";
  if (state === "unexpected") return "Take it away by hand, or write the migration that makes it.";
  return "Bring it back by hand as it is expected, or write the migration that says how it is now.";
}
