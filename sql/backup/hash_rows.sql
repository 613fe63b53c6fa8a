-- One number for all rows of a table, whatever their order: what a backup and what was restored from it must agree on.
-- Called by svc_private.describe_rows(), as the administrator.
--
-- The hash is PostgreSQL's own of each row's text, the one that hash partitions rely on; it finds accidents, not forgers.
-- The settings are those on which the text of a value depends. row_security = off: rather an error than rows left out.

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
