-- The price of a call. Called for a reservation with an estimate, and for the settlement with the actual usage.
--
-- Null without a price: the call is refused. Models that run on this machine are named local-…: they cost nothing and
-- need no row.

create or replace function svc_private.price_of(model text, input_tokens integer, output_tokens integer)
returns numeric
language sql
stable
set search_path = ''
as $$
  select case when price_of.model like 'local-%' then 0 else (
    select round(
             p.per_call + p.input_per_1000 * price_of.input_tokens / 1000 + p.output_per_1000 * price_of.output_tokens / 1000,
             6)
      from svc_private.ai_prices p
     where p.model in (price_of.model, '*')
     order by p.model = '*'
     limit 1
  ) end
$$;

comment on function svc_private.price_of(text, integer, integer) is
  'Credits for a call of a model with these numbers of tokens; null if the model has no price.';
