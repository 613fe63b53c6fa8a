-- A query of a keyword search with what the index says of its terms. svc_private.find_matches() hands it from step to step.

create type svc_private.search_query as (
  group_id integer,
  documents double precision,
  terms text[],
  weights double precision[],
  lows bigint[],
  highs bigint[],
  term_of integer[],
  tops double precision[],
  addends double precision[],
  keys bigint[],
  counts bigint[]
);

comment on type svc_private.search_query is 'A query of a keyword search with what the index says of its terms.';
