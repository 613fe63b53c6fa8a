/**
 * Tables, views, enums and extensions of any PostgreSQL database, as data. It may be one without svc, so this is a
 * statement and no function of `sql/`.
 * Next hop: `write-schema.ts` writes them as Drizzle's declarations.
 */
import type pg from "pg";
import { type LeftBehind, readLeftBehind } from "./left-behind.ts";

/** Numbers are text, as PostgreSQL writes them. */
export interface SequenceOptions {
  name: string;
  start: string;
  increment: string;
  min: string;
  max: string;
  cache: string;
  cycle: boolean;
}

export interface PulledColumn {
  name: string;
  /** With its modifier, such as `numeric(12,2)`; without the brackets of an array. */
  type: string;
  /** Schema and name of the type, when it is an enum. */
  enum: { schema: string; name: string } | null;
  /** Dimensions of an array, else 0. */
  dimensions: number;
  notNull: boolean;
  /** SQL. */
  default: string | null;
  /** The same with the schema of each name, as generated functions need it: they look into few schemas. */
  qualifiedDefault: string | null;
  /** SQL of a stored generated column. */
  generated: string | null;
  identity: "always" | "by default" | null;
  /** Of an identity, or of a serial column: a sequence that the column owns and takes its default from. */
  sequence: SequenceOptions | null;
}

interface Key {
  name: string;
  columns: string[];
}

export interface PulledForeignKey extends Key {
  schema: string;
  table: string;
  references: string[];
  onUpdate: string;
  onDelete: string;
}

export interface PulledIndex {
  name: string;
  unique: boolean;
  method: string;
  where: string | null;
  /** A column's name, or SQL. */
  keys: {
    column: string | null;
    expression: string;
    descending: boolean;
    nullsFirst: boolean;
    operators: string | null;
  }[];
}

export interface PulledTable {
  schema: string;
  name: string;
  kind: "table" | "view" | "materialized view";
  columns: PulledColumn[];
  primaryKey: Key | null;
  uniques: (Key & { nullsNotDistinct: boolean })[];
  foreignKeys: PulledForeignKey[];
  checks: { name: string; expression: string }[];
  indexes: PulledIndex[];
}

export interface PulledExtension {
  name: string;
  schema: string;
  /** Names of its types, functions, operators and operator classes that nothing else there has; of pgvector only. */
  members: string[];
}

export interface Catalog extends LeftBehind {
  /** In the schemas that were asked for, and in svc's schema for them; and elsewhere, if these schemas use them. */
  extensions: PulledExtension[];
  enums: { schema: string; name: string; values: string[] }[];
  tables: PulledTable[];
  /** Constraints and indexes that Drizzle cannot declare, such as "notes_body_idx on notes": only the migration has them. */
  undeclared: string[];
  /** Their servers belong to no schema, so that pg_dump leaves these out. */
  foreignTables: string[];
  /** Schemas that were not asked for, and have tables of their own. */
  others: string[];
}

/** @throws pg.DatabaseError for a login that may not read the catalog */
export async function readCatalog(client: pg.Client, schemas: readonly string[]): Promise<Catalog> {
  await client.query("set search_path = ''");
  const defaults = await client.query<{ at: string[]; default: string }>(defaultsText, [schemas]);
  const qualified = new Map(defaults.rows.map((row) => [JSON.stringify(row.at), row.default]));
  // That of migrations, so that names mean the same in them.
  await client.query("set search_path = public, extensions");
  const { catalog }: { catalog: Catalog } = (await client.query(text, [schemas])).rows[0];
  for (const { schema, name, columns } of catalog.tables) {
    for (const column of columns) {
      column.qualifiedDefault = qualified.get(JSON.stringify([schema, name, column.name])) ?? column.default;
    }
  }
  return { ...catalog, ...(await readLeftBehind(client, schemas)) };
}

const defaultsText = `
select array[n.nspname, c.relname, a.attname]::text[] as at,
       coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid), pg_catalog.pg_get_expr(t.typdefaultbin, 0)) as default
  from pg_catalog.pg_attribute a
  join pg_catalog.pg_class c on c.oid = a.attrelid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  join pg_catalog.pg_type t on t.oid = a.atttypid
  left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
 where n.nspname = any ($1) and a.attnum > 0 and (d.adbin is not null or t.typdefaultbin is not null)`;

/**
 * Left out, because Drizzle cannot declare them: exclusion constraints, unique constraints WITHOUT OVERLAPS and foreign keys with
 * PERIOD, indexes with INCLUDE or NULLS NOT DISTINCT, partitions (their table is there), and all that belongs to an extension.
 */
const text = `
with wanted as (
  select n.oid, n.nspname from pg_catalog.pg_namespace n where n.nspname = any ($1)
), relations as (
  select c.*, w.nspname
    from pg_catalog.pg_class c join wanted w on w.oid = c.relnamespace
   where c.relkind in ('r', 'p', 'v', 'm') and not c.relispartition
     and not exists (select from pg_catalog.pg_depend d
                      where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
), columns as (
  select a.attrelid, jsonb_agg(jsonb_build_object(
           'name', a.attname,
           'type', pg_catalog.format_type(case when t.typcategory = 'A' and t.typelem <> 0 then t.typelem else t.oid end, a.atttypmod),
           'enum', case when e.typtype = 'e' then jsonb_build_object('schema', en.nspname, 'name', e.typname) end,
           'dimensions', case when t.typcategory = 'A' and t.typelem <> 0 then greatest(a.attndims, 1) else 0 end,
           'notNull', a.attnotnull,
           -- A domain's own counts, too: generated operations know only the schema's.
           'default', case when a.attgenerated = '' then coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid), pg_catalog.pg_get_expr(t.typdefaultbin, 0)) end,
           'generated', case when a.attgenerated <> '' then pg_catalog.pg_get_expr(d.adbin, d.adrelid) end,
           'identity', case a.attidentity when 'a' then 'always' when 'd' then 'by default' end,
           'sequence', s.options
         ) order by a.attnum) as all
    from relations r
    join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    join pg_catalog.pg_type t on t.oid = a.atttypid
    join pg_catalog.pg_type e on e.oid = case when t.typcategory = 'A' and t.typelem <> 0 then t.typelem else t.oid end
    join pg_catalog.pg_namespace en on en.oid = e.typnamespace
    left join pg_catalog.pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
    left join lateral (
      select jsonb_build_object('name', sc.relname, 'start', q.seqstart::text, 'increment', q.seqincrement::text,
               'min', q.seqmin::text, 'max', q.seqmax::text, 'cache', q.seqcache::text, 'cycle', q.seqcycle) as options
        from pg_catalog.pg_depend o
        join pg_catalog.pg_class sc on sc.oid = o.objid and sc.relkind = 'S'
        join pg_catalog.pg_sequence q on q.seqrelid = sc.oid
       where o.classid = 'pg_catalog.pg_class'::regclass and o.refclassid = 'pg_catalog.pg_class'::regclass
         and o.refobjid = r.oid and o.refobjsubid = a.attnum
         and sc.relnamespace = r.relnamespace
         and (o.deptype = 'i' or o.deptype = 'a' and exists (
               select from pg_catalog.pg_depend u
                where u.classid = 'pg_catalog.pg_attrdef'::regclass and u.objid = d.oid and u.refobjid = sc.oid))
       limit 1
    ) s on true
   group by a.attrelid
), named as (
  select k.oid, k.conrelid, k.confrelid,
         (select jsonb_agg(a.attname order by p.place) from unnest(k.conkey) with ordinality as p (number, place)
            join pg_catalog.pg_attribute a on a.attrelid = k.conrelid and a.attnum = p.number) as own,
         (select jsonb_agg(a.attname order by p.place) from unnest(k.confkey) with ordinality as p (number, place)
            join pg_catalog.pg_attribute a on a.attrelid = k.confrelid and a.attnum = p.number) as others
    from pg_catalog.pg_constraint k join relations r on r.oid = k.conrelid
   where k.conparentid = 0 and (k.contype = 'p' or not coalesce((to_jsonb(k) ->> 'conperiod')::boolean, false))
), constraints as (
  select k.conrelid,
         jsonb_agg(jsonb_build_object('name', k.conname, 'columns', n.own))
           filter (where k.contype = 'p') -> 0 as primary_key,
         jsonb_agg(jsonb_build_object('name', k.conname, 'columns', n.own,
             'nullsNotDistinct', coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, false)) order by k.conname)
           filter (where k.contype = 'u') as uniques,
         jsonb_agg(jsonb_build_object('name', k.conname, 'columns', n.own, 'schema', fn.nspname, 'table', f.relname,
             'references', n.others, 'onUpdate', actions.names ->> k.confupdtype::text, 'onDelete', actions.names ->> k.confdeltype::text)
             order by k.conname)
           filter (where k.contype = 'f') as foreign_keys,
         jsonb_agg(jsonb_build_object('name', k.conname, 'expression', pg_catalog.pg_get_expr(k.conbin, k.conrelid))
             order by k.conname)
           filter (where k.contype = 'c') as checks
    from pg_catalog.pg_constraint k
    join named n on n.oid = k.oid
    left join pg_catalog.pg_index i on i.indexrelid = k.conindid and k.contype = 'u'
    left join pg_catalog.pg_class f on f.oid = k.confrelid
    left join pg_catalog.pg_namespace fn on fn.oid = f.relnamespace
    cross join (values ('{"a": "no action", "r": "restrict", "c": "cascade", "n": "set null", "d": "set default"}'::jsonb)) as actions (names)
   group by k.conrelid
), indexes as (
  select i.indrelid, jsonb_agg(jsonb_build_object(
           'name', c.relname, 'unique', i.indisunique, 'method', m.amname,
           'where', pg_catalog.pg_get_expr(i.indpred, i.indrelid), 'keys', keys.all) order by c.relname) as all
    from pg_catalog.pg_index i
    join relations r on r.oid = i.indrelid
    join pg_catalog.pg_class c on c.oid = i.indexrelid
    join pg_catalog.pg_am m on m.oid = c.relam
    cross join lateral (
      select jsonb_agg(jsonb_build_object(
               'column', a.attname, 'expression', pg_catalog.pg_get_indexdef(i.indexrelid, k.place::integer, false),
               'descending', i.indoption[k.place::integer - 1] & 1 = 1, 'nullsFirst', i.indoption[k.place::integer - 1] & 2 = 2,
               'operators', case when not o.opcdefault then o.opcname end) order by k.place) as all
        from unnest(i.indkey) with ordinality as k (number, place)
        join pg_catalog.pg_opclass o on o.oid = i.indclass[k.place::integer - 1]
        left join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number and k.number > 0
    ) keys
   where i.indislive and i.indnatts = i.indnkeyatts
     and not coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, false)
     and not exists (select from pg_catalog.pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
   group by i.indrelid
), used as (
  select m.refobjid as extension
    from pg_catalog.pg_depend m
    join pg_catalog.pg_depend d on d.refclassid = m.classid and d.refobjid = m.objid and d.deptype = 'n'
    left join pg_catalog.pg_class c on d.classid = 'pg_catalog.pg_class'::regclass and c.oid = d.objid
    left join pg_catalog.pg_attrdef a on d.classid = 'pg_catalog.pg_attrdef'::regclass and a.oid = d.objid
    left join pg_catalog.pg_class t on t.oid = a.adrelid
    left join pg_catalog.pg_constraint k on d.classid = 'pg_catalog.pg_constraint'::regclass and k.oid = d.objid
    left join pg_catalog.pg_proc p on d.classid = 'pg_catalog.pg_proc'::regclass and p.oid = d.objid
    left join pg_catalog.pg_type y on d.classid = 'pg_catalog.pg_type'::regclass and y.oid = d.objid
    join wanted w on w.oid = coalesce(c.relnamespace, t.relnamespace, k.connamespace, p.pronamespace, y.typnamespace)
   where m.refclassid = 'pg_catalog.pg_extension'::regclass and m.deptype = 'e'
     and not exists (
       select from pg_catalog.pg_depend own where own.classid = d.classid and own.objid = d.objid and own.deptype = 'e')
)
select jsonb_build_object(
  'extensions', coalesce((
     select jsonb_agg(jsonb_build_object('name', x.extname, 'schema', n.nspname, 'members', to_jsonb(array(
              select coalesce(t.typname, p.proname, o.oprname, c.opcname)
                from pg_catalog.pg_depend d
                left join pg_catalog.pg_type t on d.classid = 'pg_catalog.pg_type'::regclass and t.oid = d.objid
                left join pg_catalog.pg_proc p on d.classid = 'pg_catalog.pg_proc'::regclass and p.oid = d.objid
                left join pg_catalog.pg_operator o on d.classid = 'pg_catalog.pg_operator'::regclass and o.oid = d.objid
                left join pg_catalog.pg_opclass c on d.classid = 'pg_catalog.pg_opclass'::regclass and c.oid = d.objid
               where x.extname = 'vector' and d.deptype = 'e' and d.refobjid = x.oid
                 and d.refclassid = 'pg_catalog.pg_extension'::regclass
                 and num_nonnulls(t.typname, p.proname, o.oprname, c.opcname) = 1
                 -- An operator or function of another owner may have the same name, such as = of citext.
                 and not exists (
                   select from (select 'pg_catalog.pg_operator'::regclass, q.oid from pg_catalog.pg_operator q
                                 where q.oprname = o.oprname and q.oprnamespace = o.oprnamespace
                                union all
                                select 'pg_catalog.pg_proc'::regclass, q.oid from pg_catalog.pg_proc q
                                 where q.proname = p.proname and q.pronamespace = p.pronamespace) as twin (class, id)
                    where not exists (
                            select from pg_catalog.pg_depend y
                             where y.classid = twin.class and y.objid = twin.id and y.deptype = 'e' and y.refobjid = x.oid
                               and y.refclassid = 'pg_catalog.pg_extension'::regclass))))) order by x.extname)
       from pg_catalog.pg_extension x join pg_catalog.pg_namespace n on n.oid = x.extnamespace
      where x.extname <> 'plpgsql' and (n.nspname = any ($1 || '{extensions}'::text[]) or x.oid in (select u.extension from used u))), '[]'),
  'enums', coalesce((
     select jsonb_agg(jsonb_build_object('schema', w.nspname, 'name', t.typname, 'values',
              (select jsonb_agg(e.enumlabel order by e.enumsortorder) from pg_catalog.pg_enum e where e.enumtypid = t.oid))
              order by w.nspname, t.typname)
       from pg_catalog.pg_type t join wanted w on w.oid = t.typnamespace
      where t.typtype = 'e' and not exists (
              select from pg_catalog.pg_depend d
               where d.classid = 'pg_catalog.pg_type'::regclass and d.objid = t.oid and d.deptype = 'e')), '[]'),
  'tables', coalesce((
     select jsonb_agg(jsonb_build_object(
              'schema', r.nspname, 'name', r.relname,
              'kind', case r.relkind when 'v' then 'view' when 'm' then 'materialized view' else 'table' end,
              'columns', coalesce(c.all, '[]'), 'primaryKey', k.primary_key, 'uniques', coalesce(k.uniques, '[]'),
              'foreignKeys', coalesce(k.foreign_keys, '[]'), 'checks', coalesce(k.checks, '[]'),
              'indexes', coalesce(i.all, '[]')) order by r.nspname, r.relname)
       from relations r
       left join columns c on c.attrelid = r.oid
       left join constraints k on k.conrelid = r.oid
       left join indexes i on i.indrelid = r.oid), '[]'),
  'undeclared', array(
     select c.relname || ' on ' || r.oid::regclass
       from pg_catalog.pg_index i join relations r on r.oid = i.indrelid join pg_catalog.pg_class c on c.oid = i.indexrelid
       left join pg_catalog.pg_constraint k on k.conindid = i.indexrelid and k.conrelid = r.oid and k.contype in ('p', 'u', 'x')
      where i.indislive and case when k.oid is null
              then i.indnatts > i.indnkeyatts or coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, false)
              else k.contype = 'x' or coalesce((to_jsonb(k) ->> 'conperiod')::boolean, false) end order by 1),
  'foreignTables', array(select c.relname from pg_catalog.pg_class c join wanted w on w.oid = c.relnamespace where c.relkind = 'f' order by 1),
  'others', coalesce((
     select jsonb_agg(distinct n.nspname)
       from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and n.nspname <> all ($1)
        and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'), '[]')
) as catalog`;
