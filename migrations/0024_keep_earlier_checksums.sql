-- Which texts of a file of sql/ were applied before the one that is there. A process of the version before, started again in the
-- middle of a release, finds its own text among them: the database is newer than its files, and does not lack them.

alter table svc_private.applied_sql add column earlier text[] not null default '{}';

comment on column svc_private.applied_sql.earlier is 'Checksums of texts that were applied before, the latest last.';
comment on column svc_private.applied_sql.checksum is 'Of the text that was applied last; empty when its file is gone.';
