-- Uploads that are under way. Only the functions of sql/storage/ work here, as svc_system or for the requests' login: a
-- request role gets nothing, for a row says where bytes go, how many, and until when, and holds the hash of a token.
--
-- Whether somebody may upload is asked of the policies of svc.storage_objects, when an upload begins and when it is stored.

alter table svc.storage_uploads enable row level security;

create policy all_system on svc.storage_uploads
  for all to svc_system
  using (true)
  with check (true);

grant select, insert, update, delete on svc.storage_uploads to svc_system;

comment on policy all_system on svc.storage_uploads is 'The functions of uploads keep the uploads of all.';
