-- svc_private.list_access() has two more columns, and describes views too.

drop function if exists svc_private.list_access(regclass);
