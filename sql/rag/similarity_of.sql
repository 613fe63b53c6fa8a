-- The cosine of the angle between two vectors of length 1: their product. Called by svc.find_evidence().

create or replace function svc_hidden.similarity_of(one real[], other real[])
returns double precision  -- from -1 to 1; null when a vector is missing
language sql
immutable
parallel safe
set search_path = ''
as $$
  select sum(pair.x::double precision * pair.y) from unnest(one, other) as pair (x, y)
$$;

comment on function svc_hidden.similarity_of(real[], real[]) is
  'The cosine similarity of two vectors of length 1 with the same dimensions.';

grant execute on function svc_hidden.similarity_of(real[], real[]) to svc_anonymous, svc_authenticated;
