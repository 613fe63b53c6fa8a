/**
 * What an application may have put beside the platform's policies, as data. Each policy is planted on the tables that it
 * names, whose columns `corpus` and `visibility` are the platform's; `isOdd` says what is odd about a row of each.
 */
import type { Database } from "../support/database.ts";

export interface Policy {
  tables: readonly string[];
  as: "permissive" | "restrictive";
  to: string;
  /** Over columns of the table; {odd} stands for whether the row is odd. */
  using: string;
}

export interface Situation {
  name: string;
  policies: Policy[];
}

export const documents = ["svc.rag_sources", "svc.rag_sections", "svc.rag_chunks"] as const;
export const everything = ["public.pages", ...documents] as const;

const isOdd: Record<string, string> = {
  "public.pages": "rank = 1",
  "svc.rag_sources": "key like '%odd'",
  "svc.rag_sections": "title like '%odd'",
  "svc.rag_chunks": "position % 2 = 1",
};

/** As docs/how-to/teams.md has it: the teams' corpora begin with `team-`, and the function tells callers about themselves. */
export const isOfMyTeam = "corpus = any (array(select 'team-' || team from public.door_teams() as team))";
const both = "svc_anonymous, svc_authenticated";
const signedIn = "svc_authenticated";

const policy = (as: Policy["as"], to: string, using: string, tables: readonly string[] = everything): Policy => ({
  tables,
  as,
  to,
  using,
});
const team = policy("restrictive", signedIn, `corpus not like 'team-%' or ${isOfMyTeam}`);
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
  { name: "shared rows are shown to anyone", policies: [policy("permissive", both, "visibility = 'shared'")] },
  {
    name: "a team's private even rows are shown, its others hidden",
    policies: [colleagues, team, policy("restrictive", both, "not ({odd})")],
  },
  { name: "nothing is shown", policies: [policy("restrictive", both, "false")] },
];

/** Conditions that random situations are made of. */
export const conditions = [
  "true",
  "false",
  "{odd}",
  "not ({odd})",
  isOfMyTeam,
  "corpus = 'open'",
  "visibility = 'shared'",
];

/** Puts the policies of a situation in place of those that were planted before. */
export async function plant(db: Database, { policies }: Situation): Promise<void> {
  const wanted = policies.flatMap(({ tables, as, to, using }, number) =>
    tables.map(
      (table) =>
        `create policy app_door_${number} on ${table} as ${as} for select to ${to} using (${using.replaceAll("{odd}", isOdd[table] ?? "false")});`,
    ),
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
}
