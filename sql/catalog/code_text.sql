-- The body of a function without its comments, for the linter, which looks for words in it. Texts are kept: two dashes in
-- one begin no comment. Block comments may stand in each other, so no regular expression finds their ends.

create or replace function svc_private.code_text(source text)
returns text
language plpgsql
immutable
set search_path = ''
as $$
declare
  rest text := source;
  code text := '';
  depth integer := 0;
  found_text text;
begin
  loop
    found_text := case when depth = 0 then substring(rest from '''(?:[^'']|'''')*''|--[^\n]*|/\*') else substring(rest from '/\*|\*/') end;
    exit when found_text is null;
    if depth = 0 then
      code := code || left(rest, position(found_text in rest) - 1)
        || case when found_text like '''%' then found_text else ' ' end;
    end if;
    depth := depth + case found_text when '/*' then 1 when '*/' then -1 else 0 end;
    rest := substr(rest, position(found_text in rest) + length(found_text));
  end loop;
  return code || case when depth = 0 then rest else '' end;
end
$$;

comment on function svc_private.code_text(text) is 'The body of a function without comments.';
