-- The number of the present way to make terms of a text. Raise it when svc_private.search_words() or
-- svc_private.search_terms() give other terms, or when a migration empties the index: svc_private.renew_search() then
-- indexes existing rows again.

create or replace function svc_private.search_splitting()
returns integer
language sql
immutable
set search_path = ''
as $$
  select 3
$$;

comment on function svc_private.search_splitting() is 'The number of the way in which texts become terms.';
