-- svc_hidden.search_passages() replaces it: one call for all texts of a page.

drop function if exists svc_hidden.search_snippet(text, text, boolean, text);
