-- The primary keys of a range of rows, past every policy: Studio shows those that a user does not see as hidden. Keys
-- only, no other column. Bounds as text, in the order of the key; null is no bound.

create or replace function svc_private.studio_keys(one_table text, after text[], upto text[], most integer)
returns setof text[]
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  keys text;
  texts text;
  lower_bound text;
  upper_bound text;
  compared text;
begin
  select string_agg(format('t.%I', c.name), ', ' order by c.key_place),
         string_agg(format('t.%I::text', c.name), ', ' order by c.key_place),
         string_agg(format('($1)[%s]::%s', c.key_place, c.type), ', ' order by c.key_place),
         string_agg(format('($2)[%s]::%s', c.key_place, c.type), ', ' order by c.key_place),
         -- Records find operators that are not in the search path, such as those of an extension, but no index does.
         case when bool_and(svc_private.equality(to_regtype(c.type)) = 'operator(pg_catalog.=)') then '(%s) %s (%s)'
              else 'row(%s)::record %s row(%s)::record' end
    into keys, texts, lower_bound, upper_bound, compared
    from svc_private.studio_columns(one_table) c where c.key_place is not null;
  if keys is null then
    return;
  end if;
  return query execute format(
    'select array[%s] from %s t where %s and %s order by %s limit $3', texts, one_table,
    case when after is null then 'true' else format(compared, keys, '>', lower_bound) end,
    case when upto is null then 'true' else format(compared, keys, '<=', upper_bound) end, keys)
    using after, upto, most;
end
$$;

comment on function svc_private.studio_keys(text, text[], text[], integer) is
  'Primary keys of the rows of a range, as text, in their order; none for an unknown table or one without a key. '
  'Definer: an operator sees that a row exists which a policy hides from a user.';

grant execute on function svc_private.studio_keys(text, text[], text[], integer) to svc_studio_read;
