-- Stored objects, newest first. Called by `svc storage ls` and `svc storage show` as svc_system.
--
-- Null means "any": of the id, of the owner's id. Planned for each call: with the values known, an index finds what has them.

create or replace function svc_private.list_storage_objects(object_id uuid, owner text, most integer)
returns setof svc.storage_objects
language plpgsql
stable
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
begin
  return query
  select o.* from svc.storage_objects o
   where (object_id is null or o.id = object_id) and (owner is null or o.user_id = owner)
   order by o.created_at desc, o.id desc
   limit most;
end
$$;

comment on function svc_private.list_storage_objects(uuid, text, integer) is
  'Stored objects, newest first: one, those of a user, or all; up to a limit.';
