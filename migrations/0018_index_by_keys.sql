-- Postings were a row for each term and document. They become arrays in the document's own row, with a GIN index over
-- keys that say of each term how often it stands in how long a document: a tenth of the space, and a search opens the
-- documents alone that can be among the best (docs/adr/0008-ranking-in-plain-tables.md).

alter table svc_private.search_documents
  add column terms text[] collate "C",
  add column frequencies integer[],
  add column keys bigint[];

-- The class of a posting is written as in sql/search/search_class.sql, its key as in sql/search/search_key.sql.
create table svc_private.moved_postings as
select p.document_id, p.group_id, p.term, p.frequencies,
       (select bit_or(1 << (i::integer - 1)) from unnest(p.frequencies) with ordinality as u (n, i) where n > 0) as fields,
       32 * (width_bucket((select sum(n)::integer from unnest(p.frequencies) as n), '{1,2,3,4,5,7,10,16}'::integer[]) - 1)
         + width_bucket((select sum(n)::integer from unnest(p.lengths) as n),
             '{0,2,3,4,6,8,11,16,23,32,45,64,91,128,181,256,362,512,724,1024,1448,2048,2896,4096,5793,8192,11585,16384,32768,65536,131072,262144}'::integer[])
         - 1 as class
  from svc_private.search_postings p;

update svc_private.search_documents d
   set terms = p.terms, frequencies = p.frequencies, keys = p.keys
  from (
    select document_id, array_agg(term order by key) as terms, array_agg(frequencies order by key) as frequencies,
           array_agg(key order by key) as keys
      from svc_private.moved_postings
     cross join lateral (select hashtextextended(term, group_id) & (-1::bigint << 24) | (fields << 8) | class as key) as k
     group by 1
  ) as p
 where p.document_id = d.id;

update svc_private.search_documents set terms = '{}', frequencies = '{}', keys = '{}' where terms is null;

alter table svc_private.search_documents
  alter column terms set not null,
  alter column frequencies set not null,
  alter column keys set not null,
  -- A search reads the arrays of each candidate: they stay in its row, as they are, while that fits a page.
  alter column terms set storage main,
  alter column frequencies set storage main,
  alter column keys set storage main,
  -- No plan depends on what is in them.
  alter column terms set statistics 0,
  alter column frequencies set statistics 0,
  alter column keys set statistics 0,
  set (toast_tuple_target = 8160);

-- Without a list of pending entries, which every search would have to read through.
create index search_documents_keys on svc_private.search_documents using gin (keys) with (fastupdate = off);

comment on column svc_private.search_documents.terms is 'What the row is found by, in the order of their keys.';
comment on column svc_private.search_documents.frequencies is 'For each of the terms how often it stands in each field: [term][field].';
comment on column svc_private.search_documents.keys is 'For each of the terms its svc_private.search_key(), in order.';

drop index svc_private.search_counters_term;
truncate svc_private.search_counters;
alter table svc_private.search_counters add column class smallint not null;
insert into svc_private.search_counters (group_id, term, fields, class, documents)
select group_id, term, fields, class, count(*) from svc_private.moved_postings group by 1, 2, 3, 4;
create index search_counters_term on svc_private.search_counters (group_id, term) include (fields, class, documents);

comment on column svc_private.search_counters.class is 'See svc_private.search_class().';

drop table svc_private.moved_postings;
drop table svc_private.search_postings;
