-- pg_upgrade refuses a database with a column of type regconfig: it holds a number of this one cluster.

alter table svc.rag_sources
  alter column language drop default,
  alter column language type text using language::text,
  alter column language set default 'english';
