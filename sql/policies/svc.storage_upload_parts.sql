-- Parts of uploads. Only the system works here. The request roles get nothing, because a part says where its bytes are
-- stored.

alter table svc.storage_upload_parts enable row level security;

create policy all_system on svc.storage_upload_parts
  for all to svc_system
  using (true)
  with check (true);

grant select, insert, update, delete on svc.storage_upload_parts to svc_system;

comment on policy all_system on svc.storage_upload_parts is 'The upload functions work on the parts of all users.';
