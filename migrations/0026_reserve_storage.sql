-- Rows of uploads and stored files are made by functions of the platform alone, which choose ids and check limits
-- (sql/storage/). Bytes lie under an id of their own, new for each attempt to write them: no upload, whatever its row says,
-- can overwrite the bytes of a stored file, and an id that is used again leads to other bytes.

alter table svc.storage_objects
  add column bytes_id uuid,
  add column by_system boolean not null default false;
create unique index storage_objects_bytes_id on svc.storage_objects (coalesce(bytes_id, id));

comment on column svc.storage_objects.id is 'Chosen by svc_private.reserve_upload(), never by a caller.';
comment on column svc.storage_objects.bytes_id is
  'Names the bytes in the driver. Null in rows that are older than this column: their bytes lie under the id of the row.';
comment on column svc.storage_objects.by_system is
  'Whether the system stored it. Without an owner and not by the system: by a call that nobody was signed in to.';

-- Files without an owner count as the system's: of older ones nobody knows, and quotas of strangers begin with none.
update svc.storage_objects set by_system = true where user_id is null;

alter table svc.storage_uploads
  add column kind text not null default 'parts' check (kind in ('parts', 'url', 'call')),
  add column by_system boolean not null default false;
update svc.storage_uploads set kind = 'url' where token_sha256 is not null;

comment on column svc.storage_uploads.kind is
  'parts: sent in parts. url: sent to a signed URL. call: reserved for a call that stores a file or makes a signed URL.';
comment on column svc.storage_uploads.by_system is 'Whether the system reserved it: then no policy is asked when it is stored.';

-- The last line behind the functions. SQL inside a request could write these two tables before: rows beyond what any
-- configuration allows (1 TiB for a file) were not made by the platform, and have no bytes.
delete from svc.storage_uploads where size > 1099511627776 or expires_at > created_at + interval '30 days';
delete from svc.storage_objects where size > 1099511627776;
alter table svc.storage_objects add constraint storage_objects_size_limit check (size <= 1099511627776);
alter table svc.storage_uploads
  add constraint storage_uploads_size_limit check (size <= 1099511627776),
  add constraint storage_uploads_ends check (expires_at <= created_at + interval '30 days'),
  add constraint storage_uploads_token check ((kind = 'url') = (token_sha256 is not null));

-- How much is stored and reserved, as a sum of changes. Each change is a row of its own: callers who store at the same
-- moment do not wait for each other's transactions, as they would for one row that all update.
create table svc_private.storage_usage (
  bucket text not null,
  bytes bigint not null
);
create index storage_usage_bucket on svc_private.storage_usage (bucket) include (bytes);
alter table svc_private.storage_usage enable row level security;

comment on table svc_private.storage_usage is
  'Bytes that stored files and uploads take, by who they count for. The sum of a bucket''s rows counts; they are folded.';
comment on column svc_private.storage_usage.bucket is 'As svc_private.storage_bucket() says; "all" for everything.';

-- The functions as they are now: sql/storage/. The triggers need them here.
create function svc_private.storage_bucket(user_id text, by_system boolean) returns text language sql immutable
  set search_path = '' as $$ select case when by_system then 'system' else coalesce('user ' || user_id, 'anonymous') end $$;

create function svc_private.count_stored_bytes() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  insert into svc_private.storage_usage (bucket, bytes)
  select b.bucket, sum(greatest(c.size, 4096)) * case tg_op when 'INSERT' then 1 else -1 end
    from changed c
   cross join lateral (values ('all'), (svc_private.storage_bucket(c.user_id, c.by_system))) b (bucket)
   group by b.bucket;
  return null;
end
$$;

create trigger count_added_bytes after insert on svc.storage_objects
  referencing new table as changed for each statement execute function svc_private.count_stored_bytes();
create trigger count_removed_bytes after delete on svc.storage_objects
  referencing old table as changed for each statement execute function svc_private.count_stored_bytes();
create trigger count_added_bytes after insert on svc.storage_uploads
  referencing new table as changed for each statement execute function svc_private.count_stored_bytes();
create trigger count_removed_bytes after delete on svc.storage_uploads
  referencing old table as changed for each statement execute function svc_private.count_stored_bytes();

-- The triggers' locks keep writers out until this migration has committed: nothing is counted twice, or not at all.
insert into svc_private.storage_usage (bucket, bytes)
select b.bucket, sum(greatest(c.size, 4096))
  from (select size, user_id, by_system from svc.storage_objects
        union all select size, user_id, by_system from svc.storage_uploads) c
 cross join lateral (values ('all'), (svc_private.storage_bucket(c.user_id, c.by_system))) b (bucket)
 group by b.bucket;

-- Functions whose arguments or results are others now; sql/storage/ makes the new ones.
drop function if exists svc_private.start_upload(uuid, text, text, text, text, bigint, interval, integer);
drop function if exists svc_private.finish_upload(uuid, bigint, text);
drop function if exists svc_private.find_storage_objects(uuid[], boolean[]);
drop function if exists svc_private.next_storage_objects(uuid, integer);
drop function if exists svc.find_public_object(uuid);
