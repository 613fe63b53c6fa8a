-- One number for all rows of a table, independent of their order: a backup and its restored copy must have the same.
-- Called by svc_private.describe_rows(), as the administrator.
--
-- The hash is PostgreSQL's own over each row's text, the one that hash partitions rely on; it detects accidents, not
-- forgery. The function fixes the settings on which the text of a value depends. row_security = off raises an error
-- instead of leaving rows out.

create or replace function svc_private.hash_rows(target regclass, out rows bigint, out hash text)
language plpgsql
stable
set search_path = ''
set row_security = off
set timezone = 'UTC'
set datestyle = 'ISO'
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set extra_float_digits = 1
set xmloption = 'content'
set lc_monetary = 'C'
as $$
begin
  execute format(
    'select count(*), coalesce(sum(pg_catalog.hashtextextended(line, 0)::numeric), 0)::text
       from (select "svc row"::text as line from only %s as "svc row" offset 0) lines', target)
    into rows, hash;
end
$$;

comment on function svc_private.hash_rows(regclass) is 'How many rows a table has, and the sum of their hashes.';
