-- How much vectors weigh beside words, whose weight is 1, when the scores of both are added: 0.15 times the power 1.5 of
-- their contrast over that of the words, 1 at most. Called by svc.search_hybrid(), which says why, and
-- svc_private.select_passages().
--
-- The arguments are scores of candidates: the best and the worst that words found, the best and the worst that vectors
-- found, and `apart`, the vector score of what only words found, or null.

create or replace function svc_hidden.weight_of_vectors(
  best_words double precision, worst_words double precision,
  best_vectors double precision, worst_vectors double precision, apart double precision
)
returns double precision
language sql
immutable
parallel safe
as $$
  -- least() leaves null out: without words, vectors alone decide.
  select least(1, 0.15 * case
           when apart is null then 1
           else power(greatest(best_vectors - apart, 0)
                  / nullif(greatest(worst_vectors - apart, (best_vectors - worst_vectors) / 10), 0) / (best_words / worst_words), 1.5)
         end)
$$;

comment on function svc_hidden.weight_of_vectors(double precision, double precision, double precision, double precision, double precision) is
  'The weight of vectors beside words in hybrid search. '
  'lint:allow function_without_search_path: SET would prevent inlining; it runs under that of its caller.';

grant execute on function svc_hidden.weight_of_vectors(double precision, double precision, double precision, double precision, double precision)
  to svc_anonymous, svc_authenticated;
