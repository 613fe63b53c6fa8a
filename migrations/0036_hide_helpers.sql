-- The helpers of the functions in svc move to svc_hidden, where sql/ creates them. Their old forms would stay in svc beside the
-- API. Processes of the version before call none of them.

drop function if exists svc.count_rows(text, text, text);
drop function if exists svc.cursor_sql(text, text, jsonb, jsonb, boolean);
drop function if exists svc.describe_run(uuid);
drop function if exists svc.estimate_matches(text, text, text);
drop function if exists svc.filter_condition(jsonb, jsonb);
drop function if exists svc.filter_patterns(jsonb, jsonb);
drop function if exists svc.filter_size(jsonb);
drop function if exists svc.filter_sql(jsonb, jsonb, integer);
drop function if exists svc.filter_type(jsonb);
drop function if exists svc.filter_value(jsonb, jsonb);
drop function if exists svc.filter_values(jsonb, jsonb);
drop function if exists svc.find_evidence_as_anonymous(text[], regconfig, text, text, text, uuid[], integer, integer, jsonb);
drop function if exists svc.find_evidence_as_authenticated(text[], regconfig, text, text, text, uuid[], integer, integer, jsonb);
drop function if exists svc.find_objects_as_anonymous(uuid[]);
drop function if exists svc.find_objects_as_authenticated(uuid[]);
drop function if exists svc.lock_document(text, text, text);
drop function if exists svc.search_condition(jsonb, jsonb, jsonb);
drop function if exists svc.search_cosines(jsonb, text, text, text[]);
drop function if exists svc.search_keyword_as_anonymous(text, text[], text, jsonb, jsonb, integer, integer, boolean);
drop function if exists svc.search_keyword_as_authenticated(text, text[], text, jsonb, jsonb, integer, integer, boolean);
drop function if exists svc.search_snippet(text, text, boolean, text);
drop function if exists svc.search_sql(jsonb, text);
drop function if exists svc.search_target(text);
drop function if exists svc.similarity_of(real[], real[]);
drop function if exists svc.words_of(text, regconfig);
