-- Uploads in progress. Only the functions of sql/storage/ work here, as svc_system or for the login of requests. The
-- request roles get nothing: a row says where bytes are stored, how many, and until when, and holds the hash of a
-- token.
--
-- The policies of svc.storage_objects decide whether a user may upload, when an upload begins and when it is stored.

alter table svc.storage_uploads enable row level security;

create policy all_system on svc.storage_uploads
  for all to svc_system
  using (true)
  with check (true);

grant select, insert, update, delete on svc.storage_uploads to svc_system;

comment on policy all_system on svc.storage_uploads is 'The upload functions work on the uploads of all users.';
