-- The words of a text, stemmed, for chunks, sentences and claims alike (svc.add_chunks, svc.find_evidence).
--
-- Korean, Japanese and Chinese have no spaces between words, and PostgreSQL has no stemmer for them: their runs become
-- pairs of characters, as in svc_private.search_terms(). Other text, nearly all of it in most corpora, goes directly to
-- the text search configuration, which is ten times faster than word by word.

create or replace function svc_hidden.words_of(content text, stemming regconfig)
returns tsvector
language sql
stable
set search_path = ''
as $$
  select case
    when content !~ '[\u1100-\u11ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff]' then to_tsvector(stemming, content)
    else to_tsvector(
      stemming, regexp_replace(content, '[\u1100-\u11ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff]+', ' ', 'g')
    ) || array_to_tsvector(array(
      select distinct substr(run[1], i, 2)
        from regexp_matches(content, '[\u1100-\u11ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff]+', 'g') as run
       cross join generate_series(1, greatest(length(run[1]) - 1, 1)) as i
    ))
  end
$$;

comment on function svc_hidden.words_of(text, regconfig) is
  'The words of a text, stemmed; runs of Korean, Japanese and Chinese as pairs of characters.';

grant execute on function svc_hidden.words_of(text, regconfig) to svc_anonymous, svc_authenticated;
