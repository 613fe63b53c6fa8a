-- Searches take terms from their best rows, as an option. Functions with another argument type would stay as overloads.

create type svc_private.search_feedback as (
  kept double precision,       -- what a term of the query counts
  terms text[],                -- that count beside them
  weights double precision[]
);

drop function if exists svc.search_keyword(jsonb, text[], text, jsonb, jsonb, integer, integer, boolean);
drop function if exists svc_hidden.search_keyword_as_anonymous(text, text[], text, jsonb, jsonb, integer, integer, boolean);
drop function if exists svc_hidden.search_keyword_as_authenticated(text, text[], text, jsonb, jsonb, integer, integer, boolean);
drop function if exists svc_private.select_matches(text, text[], text, jsonb, jsonb, integer, integer, boolean);
drop function if exists svc_private.find_matches(text, text[], text, text, text, text, integer, boolean, text[]);
drop function if exists svc_private.read_query(svc_private.search_query, text, text[], regconfig, integer);
