-- A part of an upload can grow: the function that lists the parts returns their sizes too.

drop function if exists svc_private.list_upload_parts(uuid);

comment on column svc.storage_uploads.parts is 'How often bytes were added, at most 10,000 times.';
comment on column svc.storage_upload_parts.size is 'In bytes. Its file may be longer: bytes behind these do not count.';
comment on column svc.storage_upload_parts.sha256 is 'Of these bytes, in hex.';
