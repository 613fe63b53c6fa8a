-- The storage route asks for many files at once: sql/storage/find_storage_objects.sql.

drop function if exists svc_private.find_storage_object(uuid, boolean);
