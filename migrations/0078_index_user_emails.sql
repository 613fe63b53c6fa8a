-- Studio finds users by the beginning of their address, and shows them in its order (sql/studio/studio_people.sql). The unique
-- index has the order of the database's locale, in which addresses that begin alike are not always neighbours.
create index user_email_beginning on auth."user" (email collate "C");
