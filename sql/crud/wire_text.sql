-- A value of a type that travels as text: what the wire shows, and what a filter compares. Called by generated functions for
-- types that JSON would write as a number, a truth value, an object or an array, and by svc_hidden.filter_condition().
--
-- Where JSON has a string, it is that string: a cast to text differs for some types, 10.0.0.1 would become 10.0.0.1/32. A number
-- keeps all of its digits. A composite value or an array is written as PostgreSQL reads it, (1,"a b") or {1,2}.

create or replace function svc_hidden.wire_text(value anyelement)
returns text
language sql
stable
as $$
  select case when jsonb_typeof(to_jsonb(value)) in ('object', 'array') then value::text else to_jsonb(value) #>> '{}' end
$$;

comment on function svc_hidden.wire_text(anyelement) is
  'A value as text, as JSON shows it where it has a string. Called by generated functions and svc_hidden.filter_condition(). '
  'lint:allow function_without_search_path: PostgreSQL puts its body into the statement only without one.';

grant execute on function svc_hidden.wire_text(anyelement) to svc_request, svc_anonymous, svc_authenticated, svc_system;
