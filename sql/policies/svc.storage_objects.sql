-- Stored files: their owners see and change them. The platform's functions create the rows: they choose ids and sizes
-- and insert as a reader (svc_private.insert_object()). So the insert policies below decide, and no SQL of a request
-- inserts.
--
-- A caller sees a public file only by its id. select_public is for the readers alone, and svc_hidden.find_objects_as_… look
-- ids up as readers. Under a policy for the request roles everybody could list public files.
--
-- Policies of the application (app_…) apply in both cases, because readers are members of the request roles.

alter table svc.storage_objects enable row level security;

create policy select_owner on svc.storage_objects
  for select to svc_authenticated
  using (user_id = (select svc.current_user_id()));

create policy select_public on svc.storage_objects
  for select to svc_reader_anonymous, svc_reader_authenticated
  using (visibility = 'public');

create policy insert_owner on svc.storage_objects
  for insert to svc_authenticated
  with check (user_id = (select svc.current_user_id()));

-- For a form with a file that anyone may send: the file belongs to nobody, and only the system reads it unless it is
-- public.
create policy insert_anonymous on svc.storage_objects
  for insert to svc_anonymous
  with check (user_id is null);

create policy update_owner on svc.storage_objects
  for update to svc_authenticated
  using (user_id = (select svc.current_user_id()))
  with check (user_id = (select svc.current_user_id()));

create policy delete_owner on svc.storage_objects
  for delete to svc_authenticated
  using (user_id = (select svc.current_user_id()));

-- Anonymous callers own nothing, and no policy shows them any row. With this grant they get "not found" instead of "not
-- allowed".
grant select on svc.storage_objects to svc_anonymous, svc_authenticated;
grant insert on svc.storage_objects to svc_reader_anonymous, svc_reader_authenticated;
-- Bytes and owner never change; only the visibility does.
grant update (visibility) on svc.storage_objects to svc_authenticated;
grant delete on svc.storage_objects to svc_authenticated;
grant select, insert, update, delete on svc.storage_objects to svc_system;

comment on table svc.storage_objects is
  'Stored files. A row is written when its bytes are safe; bytes without a row are swept (src/storage/sweep.ts). '
  'lint:allow grant_without_policy: anonymous callers get "not found", as for files of others.';
comment on policy select_owner on svc.storage_objects is 'Users see their own files.';
comment on policy select_public on svc.storage_objects is 'Public files are found by id and never listed.';
comment on policy insert_owner on svc.storage_objects is 'Users store files as their own.';
comment on policy insert_anonymous on svc.storage_objects is 'Anonymous callers store files without an owner.';
comment on policy update_owner on svc.storage_objects is 'Users change the visibility of their own files.';
comment on policy delete_owner on svc.storage_objects is 'Users delete their own files.';
