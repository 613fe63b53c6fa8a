-- Organizations by id, or by the beginning of their name, for Studio's panel People, in the order of their names. Capital letters
-- from A to Z count as small ones, in every locale. `next` and `next_id` page: organizations after it.
--
-- The upper bound ends the look-up in the index: by starts_with() alone it would go on to the last organization.

create or replace function svc_private.studio_organizations(search text, next text, next_id text, most integer)
returns table (id text, name text, created_at timestamptz)
language sql
stable
security definer
set search_path = ''
as $$
  select f.id, f.name, f.created_at
    from (
      (select true as by_id, o.* from svc.organizations o where o.id = search and next is null)
      union all
      (select false, o.*
         from svc.organizations o
        where lower(o.name collate "C") >= lower(search collate "C")
          and lower(o.name collate "C") < lower(search collate "C") || chr(1114111)
          and (lower(o.name collate "C"), o.id) > (lower(coalesce(next, '') collate "C"), coalesce(next_id, ''))
          and o.id <> search
        order by lower(o.name collate "C"), o.id
        limit most)) as f
   order by f.by_id desc, lower(f.name collate "C"), f.id
   limit most
$$;

comment on function svc_private.studio_organizations(text, text, text, integer) is
  'Organizations with this id, or with a name that begins so. '
  'Definer: svc_studio_read reads tables only as a user.';

grant execute on function svc_private.studio_organizations(text, text, text, integer) to svc_studio_read;
