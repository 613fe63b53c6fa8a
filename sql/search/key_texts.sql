-- Keys as svc_private.index_rows() writes them. Part of svc_private.select_matches(), which reads rows in the time zone of the session,
-- because a policy may ask for the date.

create or replace function svc_private.key_texts(keys anyarray)
returns text[]
language plpgsql
stable
set search_path = ''
set datestyle = 'ISO'
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set timezone = 'UTC'
set extra_float_digits = 1
as $$
begin
  return keys::text[];
end
$$;

comment on function svc_private.key_texts(anyarray) is 'Keys of a searchable table as the index has them.';

grant execute on function svc_private.key_texts(anyarray) to svc_reader_anonymous, svc_reader_authenticated;
