/**
 * Finds differences between a database and the files of `migrations/` and `sql/`. The files are applied to an empty
 * database on the same server, `svc_private.list_facts()` describes both, and the descriptions are compared.
 * Next hop: `sql/catalog/list_facts.sql`; `src/cli/db/drift.ts` prints.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import { withClient } from "../postgres/with-client.ts";
import { flatConditions } from "./flat-conditions.ts";
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
  /** For example `table public.tasks`. */
  object: string;
  /** For example `policy` or `column`; `itself` when the whole object is missing or unexpected. */
  kind: string;
  /** Name of the policy, column or role; empty for kinds that an object has only once. */
  part: string;
  /** Null when it is unexpected. */
  expected: string | null;
  /** Null when it is missing. */
  found: string | null;
  remedy: string;
}

type Files = Required<Pick<MigrateOptions, "adminUrl" | "platform" | "application">> & {
  /** DATABASE_SCRATCH_URL; null to create an empty database on the same server. */
  scratchUrl: string | null;
};

/**
 * Changes nothing in the database; temporary objects on its server are removed.
 *
 * @throws MigrationError when the files cannot be applied to an empty database
 */
export async function findDrift(files: Files): Promise<Difference[]> {
  // First: when it fails, no empty database is left behind.
  const found = await withClient(files.adminUrl, "svc db drift", async (client) => {
    await client.query("begin read only");
    return readFacts(client);
  });
  return compareFacts(await describeFiles(files), found);
}

/** The state that the files describe. @param files their `adminUrl` names the server for the empty database */
export async function describeFiles(files: Files): Promise<Fact[]> {
  const facts = await withScratchDatabase(files.adminUrl, files.scratchUrl, (adminUrl) =>
    rehearseMigration({ ...files, adminUrl }, readFacts),
  );
  return withoutRolesByHand(facts, files.platform);
}

/** Works on any connection of an administrator, also within a transaction. */
export const readFacts = async (client: pg.Client): Promise<Fact[]> =>
  (await client.query<Fact>("select object, kind, part, definition from svc_private.list_facts()")).rows;

/**
 * Removes memberships and settings of roles that somebody added by hand. Roles belong to the server, so the empty database
 * has these too: `roles.sql` sets its own again, and takes none away. The expected ones come from the committed dump.
 */
export async function withoutRolesByHand(described: Fact[], platform: string): Promise<Fact[]> {
  const dump = await readFile(join(platform, "sql/schema.dump.sql"), "utf8");
  const roles = new Map<string, string[]>();
  for (const section of dump.split("\n\n")) {
    const role = section.match(/^-- (role \w+):/)?.[1];
    if (role) roles.set(role, section.split(/[:\n]/));
  }
  return described.filter(
    ({ object, kind, part }) =>
      !["member of", "setting"].includes(kind) || roles.get(object)?.includes(`${kind} ${part}`),
  );
}

export function compareFacts(expected: readonly Fact[], found: readonly Fact[]): Difference[] {
  const wanted = byObject(expected);
  const present = byObject(found);
  return [...new Set([...wanted.keys(), ...present.keys()])].sort().flatMap((object) => {
    const before = wanted.get(object);
    const now = present.get(object);
    const hasPolicies = [...(before?.values() ?? [])].some(({ kind }) => kind === "policy");
    // A missing or unexpected object gives one line, not one for each of its columns.
    if (!before || !now) {
      if (isPartition(wholeOf(before ?? now)))
        return accessTo(now).map((fact) => difference(object, undefined, fact, false));
      return [difference(object, wholeOf(before), wholeOf(now), hasPolicies, { kind: "itself", part: "" })];
    }
    return [...new Set([...before.keys(), ...now.keys()])]
      .filter((key) => !isSame(before.get(key), now.get(key)))
      .map((key) => difference(object, before.get(key), now.get(key), hasPolicies));
  });
}

const isSame = (one: Fact | undefined, other: Fact | undefined) =>
  one?.definition === other?.definition ||
  (one !== undefined &&
    other !== undefined &&
    hasConditions(one) &&
    hasConditions(other) &&
    flatConditions(one.definition) === flatConditions(other.definition));

/** Kinds of facts in which PostgreSQL writes each condition in parentheses. */
const written = ["column", "constraint", "definition", "index", "policy", "query", "rule", "statistics", "trigger"];
/** A function's body that is a text stays as its author wrote it. */
const hasConditions = ({ kind, definition }: Fact) =>
  written.includes(kind) && !/^\s*AS .*\$(function|procedure)x*\$/m.test(definition);

const keyOf = ({ kind, part }: Pick<Fact, "kind" | "part">) => `${kind} ${part}`;
/** The fact that an object is there. One of PostgreSQL's own has only facts of other kinds. */
const wholeOf = (facts?: Map<string, Fact>) =>
  facts?.get(keyOf({ kind: "itself", part: "" })) ?? facts?.values().next().value;

/** Crons create and drop partitions of ranges and lists. Those of hashes, and the default one, are there from the beginning. */
const isPartition = (whole: Fact | undefined) => / part of .+ FOR VALUES (FROM|IN) /.test(whole?.definition ?? "");
/** Who reaches a partition past its table. The system does by the default privileges. */
const accessTo = (facts: Map<string, Fact> = new Map()) =>
  [...facts.values()].filter(
    ({ kind, part }) => kind === "policy" || kind === "rule" || (kind === "grant" && part !== "svc_system"),
  );

function byObject(facts: readonly Fact[]): Map<string, Map<string, Fact>> {
  const objects = Map.groupBy(facts, ({ object }) => object);
  return new Map([...objects].map(([object, of]) => [object, new Map(of.map((fact) => [keyOf(fact), fact]))]));
}

function difference(
  object: string,
  wanted: Fact | undefined,
  present: Fact | undefined,
  hasPolicies: boolean,
  { kind, part }: Pick<Fact, "kind" | "part"> = (wanted ?? present) as Fact,
): Difference {
  const state = !wanted ? "unexpected" : !present ? "missing" : "differs";
  const [expected, found] = [wanted?.definition ?? null, present?.definition ?? null];
  const what = { state, object, kind, part, expected, found } as const;
  return { ...what, remedy: remedyFor(what, hasPolicies) };
}

// Objects that sql/ recreates on every run: functions, views, policies and grants of the platform, roles, schemas, the publication.
const repeatable =
  /^(function|view) (svc|svc_hidden|svc_private|svc_crud|auth)\.|^(role|schema|database|default privileges|publication svc$|PostgreSQL's own)\b/;
/** The application's generated files make these. */
const generatedTrigger = /^(svc_search|_svc)_/;
/** Of platform tables, made by a migration. */
const migratedTrigger = /^count_(added|removed)_bytes$/;
const platformTable = /^(table|sequence) (svc|svc_hidden|svc_private|auth)\./;

/** @param hasPolicies whether the files give it policies: those of the platform then have a file in `policies/` for it */
function remedyFor({ state, object, kind, part }: Omit<Difference, "remedy">, hasPolicies: boolean): string {
  if (kind === "version")
    return "Update the extension (alter extension … update), here or where the files are applied.";
  const isOurs = platformTable.test(object);
  // Only policies and grants of a platform table are removed before its file is applied again, and tables of the publication.
  const isReset = isOurs && hasPolicies && ["policy", "grant"].includes(kind);
  const isTakenAway = isReset || (object === "publication svc" && kind === "table");
  const isTrigger = kind === "trigger" && (generatedTrigger.test(part) || (isOurs && !migratedTrigger.test(part)));
  const isComment = isOurs && kind === "comment" && part.startsWith("policy ");
  const isRestated = repeatable.test(object) || isReset || isTrigger || isComment;
  if (isRestated && (state !== "unexpected" || isTakenAway)) return "`svc migrate --again` restores it.";
  // A migration may not change roles.
  if (state === "unexpected" && kind === "member of") return `revoke ${part} from ${object.replace("role ", "")};`;
  if (state === "unexpected" && kind === "setting") {
    const [name, where = ""] = part.split(/( in database .*)/);
    return `alter ${object}${where} reset ${name};`;
  }
  if (state === "unexpected") return "Remove it by hand, or write the migration that creates it.";
  return "Restore it by hand, or write a migration for its current state.";
}
