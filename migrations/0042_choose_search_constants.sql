-- A searchable table may declare the constants of BM25, which steps of a search now take. And texts become terms in a
-- new way, in which the plural of an acronym is its singular: what is indexed in the old way is indexed again, by
-- svc_private.renew_search().

alter table svc_private.search_tables add column splitting integer not null default 1;

comment on column svc_private.search_tables.splitting is 'The svc_private.search_splitting() with which it was indexed.';

drop function if exists svc_private.search_group(text, text[], text, text, text);
drop function if exists svc_private.scoring_sql(integer[], double precision, integer);
drop function if exists svc_private.read_query(
  integer, text, text[], regconfig, integer[], boolean, double precision, double precision, integer);
