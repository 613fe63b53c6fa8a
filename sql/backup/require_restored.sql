-- Refuses a restore that differs from the backup's description. Called by src/backup/restore.ts as the last statement
-- of the transaction that restores: a difference rolls all of it back.
--
-- Sequences are not part of a snapshot: they may be ahead of their recorded position, never behind.

create or replace function svc_private.require_restored(tables jsonb, definitions jsonb, sequences jsonb)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  problem text;
begin
  select coalesce(e.name, f.name) || ': ' ||
         case when f.name is null then 'the table is missing'
              when e.name is null then 'there is no such table in the backup'
              else format('%s rows where the backup has %s, or others', f.rows, e.rows) end
    into problem
    from jsonb_to_recordset(tables) as e (name text, rows bigint, hash text)
    full join svc_private.describe_rows() f on f.name = e.name
   where (e.name, e.rows, e.hash) is distinct from (f.name, f.rows, f.hash)
   limit 1;
  if problem is null then
    select coalesce(e.name, f.name) || ': its definition, policies or grants are not those of the backup'
      into problem
      from jsonb_to_recordset(definitions) as e (name text, hash text)
      full join svc_private.describe_definitions() f on f.name = e.name
     where definitions is not null and (e.name, e.hash) is distinct from (f.name, f.hash)
     limit 1;
  end if;
  if problem is null then
    select e.name || ': the sequence is behind the backup''s'
      into problem
      from jsonb_to_recordset(sequences) as e (name text, last bigint, step bigint)
      left join pg_catalog.pg_sequences q on format('%I.%I', q.schemaname, q.sequencename) = e.name
     where e.last is not null and (q.last_value is null or (q.last_value - e.last) * sign(e.step) < 0)
     limit 1;
  end if;
  if problem is not null then
    raise exception 'differs from the backup: %', problem using errcode = 'data_corrupted';
  end if;
end
$$;

comment on function svc_private.require_restored(jsonb, jsonb, jsonb) is
  'Raises an error that names the first table, definition or sequence that differs from the backup; null definitions '
  'are not compared.';
