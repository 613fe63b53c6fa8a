-- The words of each claim, with their weights and the positions of the chunks that hold them. Called by
-- svc_private.select_evidence(), and by svc_private.select_passages() with a question. PostgreSQL expands it into their statements.
--
-- Words are weighted by their rarity (the idf of BM25). Rarity is counted among the chunks of the scope that the policies
-- show: the weights must not reveal how often a word occurs in documents of others. Words that every fiftieth chunk
-- holds, or 2,000 chunks, count in scores but select no chunks, unless the claim has no other words: otherwise the cost of
-- a claim would grow with the corpus. Of a long claim only the rarest words select, as many as lead to some 500,000
-- look-ups of words in chunks.

create or replace function svc_private.weigh_claims(
  claims text[],
  stemming regconfig,
  corpus text,
  visibility text,
  owner_id text
)
returns table (
  claim integer,
  lexemes text[],
  queries tsquery[],
  kin tsquery[],      -- words that begin like the lexeme
  weights double precision[],
  weight double precision,
  places tid[]        -- of the chunks that the claim's words select, hidden chunks among them
)
language sql
stable
as $$
  with terms as materialized (
    select one.claim::integer, lexeme, quote_literal(lexeme)::tsquery as query,
           -- "methylated" for "methylation": the stemmer gives them different lexemes.
           (quote_literal(left(lexeme, greatest(4, length(lexeme) - 3))) || ':*')::tsquery as kin
      from unnest(claims) with ordinality as one (text, claim),
           unnest(tsvector_to_array(svc_hidden.words_of(one.text, stemming))) as lexeme
  ), total as materialized (
    select count(*)::double precision as chunks
      from svc.rag_chunks c
     where c.corpus = weigh_claims.corpus
       and c.visibility = weigh_claims.visibility
       and (weigh_claims.owner_id is null or c.owner_id = weigh_claims.owner_id)
  ), known as materialized (
    -- For each lexeme the positions of the chunks that hold it, hidden chunks among them.
    select d.lexeme, d.query, f.chunks as places, f.total
      from (select lexeme, query, row_number() over (order by lexeme) as place from terms group by lexeme, query) d
      join svc_private.find_chunks(
             array(select query from terms group by lexeme, query order by lexeme),
             weigh_claims.corpus, weigh_claims.visibility, weigh_claims.owner_id
           ) f using (place)
  ), rarity as materialized (
    select k.lexeme, n.chunks, ln(1 + (t.chunks - n.chunks + 0.5) / (n.chunks + 0.5)) as weight,
           n.chunks > greatest(2000, t.chunks / 50) as is_common
      from known k
     cross join total t
     cross join lateral (
       -- If the policies show all chunks of the scope, no chunk is hidden and all of these count.
       select case when k.total = t.chunks then coalesce(cardinality(k.places), 0)
                   else (select count(*) from svc.rag_chunks s where s.ctid = any (k.places)) end as chunks
     ) n
  ), ordered as materialized (
    select t.*, r.weight, r.is_common, row_number() over rarest = 1
           or sum(r.chunks) over rarest <= greatest(2000, 500000 / count(*) over (partition by t.claim)) as chooses
      from terms t join rarity r using (lexeme)
    window rarest as (partition by t.claim order by r.chunks, lexeme)
  )
  select w.claim, w.lexemes, w.queries, w.kin, w.weights, w.weight, array(
           select unnest(k.places) from ordered o join known k using (lexeme)
            where o.claim = w.claim and o.chooses and not (w.has_rare and o.is_common)
         )
    from (
      select t.claim, array_agg(t.lexeme) as lexemes, array_agg(t.query) as queries, array_agg(t.kin) as kin,
             array_agg(t.weight) as weights, sum(t.weight) as weight,
             coalesce(bool_or(t.chooses and not t.is_common), false) as has_rare
        from ordered t
       group by t.claim
    ) w
$$;

comment on function svc_private.weigh_claims(text[], regconfig, text, text, text) is
  'The words of claims with their weights and the chunks that contain them. Part of svc_private.select_evidence(). '
  'lint:allow function_without_search_path: SET would prevent inlining; it runs under that of its caller.';

grant execute on function svc_private.weigh_claims(text[], regconfig, text, text, text)
  to svc_reader_anonymous, svc_reader_authenticated;
