-- What is kept of an answer that is too large to be kept: those of its members that are short, with their encoding. An outbox on a
-- device finds the key there that the service gave to a row, and when it was changed, for the changes that wait behind it.
-- Called by svc.keep_answers().
--
-- An answer that PostgreSQL cannot take apart, such as one with a NUL in a name, has none. That must not fail its call.

create or replace function svc_private.short_answer(answer text)
returns text
language plpgsql
immutable
set search_path = ''
as $$
begin
  return (
    with short as (
      select m.key, m.value from json_each(answer::json -> 'json') m
       where json_typeof(m.value) in ('string', 'number') and octet_length(m.key) + octet_length(m.value::text) <= 256
       limit 50
    )
    select concat('{"json":', json_object_agg(s.key, s.value), ',"meta":', (
             select coalesce(json_agg(e.value), '[]') from json_array_elements(answer::json -> 'meta') e
              where json_array_length(e.value) = 2 and e.value ->> 1 in (select key from short)), '}')
      from short s having count(*) > 0);
exception
  when others then return null;
end
$$;

comment on function svc_private.short_answer(text) is
  'The members of an answer that have at most 256 bytes, up to 50, as an answer. Null if there are none.';
