/**
 * What stays in the old database because it names roles or tables that svc does not have: policies, and triggers on tables that
 * were not read, such as those of Supabase's users. `write-schema.ts` keeps the policies as comments.
 */
import type pg from "pg";

export interface PulledPolicy {
  schema: string;
  table: string;
  name: string;
  /** SQL behind the table's name: `for select to authenticated using (true)`. */
  rule: string;
}

export interface LeftBehind {
  policies: PulledPolicy[];
  /** Such as `greet on auth.users, which runs public.greet()`. */
  triggers: string[];
}

export async function readLeftBehind(client: pg.Client, schemas: readonly string[]): Promise<LeftBehind> {
  const policies = await client.query<PulledPolicy>(policiesText, [schemas]);
  const triggers = await client.query<{ it: string }>(triggersText, [schemas]);
  return { policies: policies.rows, triggers: triggers.rows.map(({ it }) => it) };
}

const policiesText = `
select p.schemaname as schema, p.tablename as table, p.policyname as name,
       concat_ws(' ', case p.permissive when 'RESTRICTIVE' then 'as restrictive' end,
         'for ' || lower(p.cmd), 'to ' || array_to_string(p.roles, ', '),
         'using (' || p.qual || ')', 'with check (' || p.with_check || ')') as rule
  from pg_catalog.pg_policies p
 where p.schemaname = any ($1)
 order by 1, 2, 3`;

const triggersText = `
select format('%s on %I.%I, which runs %I.%I()', t.tgname, n.nspname, c.relname, m.nspname, p.proname) as it
  from pg_catalog.pg_trigger t
  join pg_catalog.pg_class c on c.oid = t.tgrelid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  join pg_catalog.pg_proc p on p.oid = t.tgfoid
  join pg_catalog.pg_namespace m on m.oid = p.pronamespace
 where not t.tgisinternal and m.nspname = any ($1) and n.nspname <> all ($1)
 order by 1`;
