-- A search may open so many documents and no more; what it is made of takes other parameters for that.

drop function if exists svc.find_matches(text, text[], text, text, text, integer, boolean);
drop function if exists svc_private.search_cover(integer[], double precision[], bigint[], bigint[], double precision);
drop function if exists svc_private.search_pair(bigint[], bigint[]);
