-- The files that the storage route may send. Called by src/storage/find-objects.ts as svc_system, once for all requests
-- that arrived together. Each request has one reader:
--
--   anonymous   a request without a read grant
--   user <id>   a request with a grant that this user made: it lasts as long as that user may see the file, and is not banned
--   system      a request with a grant that the system made
--
-- The policies decide, including those of the application: svc_hidden.find_objects_as_… run as the reader's role, for the user
-- that is set here. "Private" and "does not exist" give the same answer, no row, so that nobody learns which ids exist.

create or replace function svc_private.find_storage_objects(ids uuid[], readers text[])
returns table (
  reader text, id uuid, bytes_id uuid, name text, size double precision, type text, visibility text, sha256 text
)
language plpgsql
volatile
rows 10
set search_path = ''
as $$
#variable_conflict use_column
declare
  wanted record;
begin
  for wanted in
    select w.reader, array_agg(w.id) as ids from unnest(ids, readers) as w (id, reader) group by w.reader
  loop
    if wanted.reader = 'anonymous' then
      return query select wanted.reader, o.* from svc_hidden.find_objects_as_anonymous(wanted.ids) o;
    elsif wanted.reader = 'system' then
      return query
      select wanted.reader, o.id, coalesce(o.bytes_id, o.id), o.name, o.size::double precision, o.type, o.visibility,
             o.sha256
        from svc.storage_objects o
       where o.id = any (wanted.ids);
    elsif auth.may_act(substr(wanted.reader, 6)) then
      perform svc_private.act_for(substr(wanted.reader, 6));
      return query select wanted.reader, o.* from svc_hidden.find_objects_as_authenticated(wanted.ids) o;
      perform svc_private.act_for(null);
    end if;
  end loop;
end
$$;

comment on function svc_private.find_storage_objects(uuid[], text[]) is
  'Those of the requested files that their readers may see.';
