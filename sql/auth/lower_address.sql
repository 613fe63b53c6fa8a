-- An e-mail address as it is stored: in lower case. The locale "C" knows the letters of ASCII, so that I becomes i in Turkish
-- databases, too. The locale of the database knows the others.

create or replace function svc_private.lower_address(address text)
returns text
language sql
immutable
set search_path = ''
as $$
  select lower(lower(address collate "C") collate "default")
$$;

comment on function svc_private.lower_address(text) is 'The address in lower case, as it is stored.';
