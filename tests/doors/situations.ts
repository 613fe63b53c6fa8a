/**
 * Policies that an application may add to the platform's, as data. Each policy is created on the tables that it names.
 * Its conditions use the corpus, the visibility and the oddness of a row, which each table has in its own columns.
 */
import type { Database } from "../support/database.ts";

interface Policy {
  tables: readonly Table[];
  as: "permissive" | "restrictive";
  to: string;
  /** (Default: select) */
  command?: "select" | "update" | "delete" | "all";
  /** {corpus}, {visibility} and {odd} are replaced by the table's expressions for them. */
  using: string;
}

export interface Situation {
  name: string;
  policies: Policy[];
}

/** The columns of a row's corpus and visibility, and whether it is odd. */
interface Columns {
  corpus: string;
  visibility: string;
  odd: string;
}
const declared = (odd: string): Columns => ({ corpus: "corpus", visibility: "visibility", odd });
/** For a table without such columns: a text contains them, for example `team-1 shared odd`. */
const labelled = (column: string): Columns => ({
  corpus: `split_part(${column}, ' ', 1)`,
  visibility: `split_part(${column}, ' ', 2)`,
  odd: `split_part(${column}, ' ', 3) = 'odd'`,
});

/** Every table with rows of users; tables.test.ts checks the catalog for others. */
const tables = {
  "public.pages": declared("rank = 1"),
  "svc.rag_sources": declared("key like '%odd'"),
  "svc.rag_sections": declared("title like '%odd'"),
  "svc.rag_chunks": declared("position % 2 = 1"),
  "svc.storage_objects": labelled("name"),
  "svc.workflow_runs": labelled("name"),
  "svc.workflow_steps": labelled("name"),
  "svc.workflow_events": labelled("name"),
  "svc.ai_transcriptions": labelled("model"),
  "svc.ai_ledger": labelled("model"),
} satisfies Record<string, Columns>;
export type Table = keyof typeof tables;
export const everything = Object.keys(tables) as Table[];

/** As in docs/how-to/teams.md: the teams' corpora begin with `team-`, and the function returns the caller's teams. */
const isOfMyTeam = "{corpus} = any (array(select 'team-' || team from public.door_teams() as team))";
const both = "svc_anonymous, svc_authenticated";
const signedIn = "svc_authenticated";

const policy = (as: Policy["as"], to: string, using: string, tables: readonly Table[] = everything): Policy => ({
  tables,
  as,
  to,
  using,
});
const team = policy("restrictive", signedIn, `{corpus} not like 'team-%' or ${isOfMyTeam}`);
const colleagues = policy("permissive", signedIn, isOfMyTeam);

export const situations: Situation[] = [
  { name: "the platform's policies alone", policies: [] },
  { name: "teams by the recipe", policies: [team] },
  { name: "odd rows are hidden", policies: [policy("restrictive", both, "not ({odd})")] },
  {
    name: "odd documents are hidden, their chunks not",
    policies: [policy("restrictive", both, "not ({odd})", ["svc.rag_sources"])],
  },
  {
    name: "odd sections are hidden, their chunks not",
    policies: [policy("restrictive", both, "not ({odd})", ["svc.rag_sections"])],
  },
  { name: "private rows of a team are shown to its members", policies: [colleagues] },
  { name: "shared rows are shown to anyone", policies: [policy("permissive", both, "{visibility} = 'shared'")] },
  {
    name: "a team's private even rows are shown, its others hidden",
    policies: [colleagues, team, policy("restrictive", both, "not ({odd})")],
  },
  {
    name: "odd files, runs and steps are hidden",
    policies: [
      policy("restrictive", both, "not ({odd})", ["svc.storage_objects", "svc.workflow_runs", "svc.workflow_steps"]),
    ],
  },
  {
    name: "odd rows are shown to strangers, and hidden from who is signed in",
    policies: [policy("permissive", "svc_anonymous", "{odd}"), policy("restrictive", signedIn, "not ({odd})")],
  },
  {
    name: "odd rows are hidden from API keys",
    policies: [policy("restrictive", signedIn, "not ({odd}) or (select svc.has_scope('odd'))")],
  },
  { name: "everything is shown", policies: [policy("permissive", both, "true")] },
  { name: "nothing is shown", policies: [policy("restrictive", both, "false")] },
];

const owned: Table[] = ["public.pages", "svc.rag_sources", "svc.storage_objects"];

/** Policies of an application about changes. */
export const writingSituations: Situation[] = [
  {
    name: "odd rows may be neither changed nor removed",
    policies: [
      { ...policy("restrictive", both, "not ({odd})", owned), command: "update" },
      { ...policy("restrictive", both, "not ({odd})", owned), command: "delete" },
    ],
  },
  {
    name: "members may do what owners may",
    policies: [{ ...policy("permissive", signedIn, isOfMyTeam, owned), command: "all" }],
  },
];

/** The situations that concern one of the tables, and the empty one. */
export const situationsOf = (...named: Table[]): Situation[] =>
  situations.filter(
    ({ policies }) =>
      policies.length === 0 || policies.some(({ tables }) => named.some((name) => tables.includes(name))),
  );

/** Conditions for random situations. */
export const conditions = [
  "true",
  "false",
  "{odd}",
  "not ({odd})",
  isOfMyTeam,
  "{corpus} = 'open'",
  "{visibility} = 'shared'",
];

let planted = 0;
/** How often policies were replaced. */
export const plantings = () => planted;

let later = 0;
const now = performance.now.bind(performance);
/** A process keeps for a second that a stored file is public. The clock passes it, so that a test need not wait. */
performance.now = () => now() + later;

/** Replaces the policies of an earlier situation by those of this one. */
export async function plant(db: Database, { policies }: Situation): Promise<void> {
  const wanted = policies.flatMap(({ tables: named, as, command = "select", to, using }, number) =>
    named.map((table) => {
      const condition = using.replace(/\{(\w+)\}/g, (_, name) => tables[table][name as keyof Columns]);
      return `create policy app_door_${number} on ${table} as ${as} for ${command} to ${to} using (${condition});`;
    }),
  );
  await db.sql(`
    do $$
    declare
      planted record;
    begin
      for planted in select policyname, schemaname, tablename from pg_policies where policyname like 'app\\_door\\_%' loop
        execute format('drop policy %I on %I.%I', planted.policyname, planted.schemaname, planted.tablename);
      end loop;
    end $$;
    ${wanted.join("\n")}`);
  planted++;
  later += 1_000;
}
