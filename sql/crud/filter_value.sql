-- A value of a filter as text that the column's type always accepts, or null when it does not have the column's form.
-- Called by filter_condition() and filter_values().
--
-- The forms are those of input, src/crud/wire-kinds.ts. PostgreSQL 15 has no pg_input_is_valid() to check the types
-- instead. Digits are written [0-9], because \d includes those of other scripts under some collations.

create or replace function svc_hidden.filter_value(col jsonb, value jsonb)
returns text
language plpgsql
stable
as $$
declare
  kind constant text := col ->> 'kind';
  form constant text := jsonb_typeof(value);
  content text := value #>> '{}';
  number numeric;
begin
  if kind = 'text' then
    return case when form = 'string' then content end;

  elsif kind = 'boolean' then
    return case when form = 'boolean' then content end;

  elsif kind = 'uuid' then
    return case
      when form = 'string' and content ~ '^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' then content
    end;

  elsif kind = 'enum' then
    return case when form = 'string' and col -> 'values' ? content then content end;

  elsif kind = 'integer' then
    if form <> 'number' then
      return null;
    end if;
    number := value::numeric;
    return case
      when number <> trunc(number) then null
      when (col ->> 'type') ~ '(small|int2)' then case when number between -32768 and 32767 then trunc(number)::text end
      when number between -2147483648 and 2147483647 then trunc(number)::text
    end;

  elsif kind = 'bigint' then
    if form = 'number' then
      -- A larger JSON number has lost digits on its way here; a string has not.
      number := value::numeric;
      return case
        when number between -9007199254740991 and 9007199254740991 and number = trunc(number) then trunc(number)::text
      end;
    elsif form = 'string' and content ~ '^-?[0-9]{1,19}$' then
      return case when content::numeric between -9223372036854775808 and 9223372036854775807 then content end;
    end if;
    return null;

  elsif kind = 'number' then
    if form <> 'number' then
      return null;
    end if;
    -- jsonb holds numbers that a float cannot. Too large ones are ignored, too small ones become zero, as in JavaScript.
    -- The cast would reject both.
    number := abs(value::numeric);
    if (col ->> 'type') ~ '(real|float4)' then
      return case when number < 7.1e-46 then '0' when number <= 3.4028235e38 then content end;
    end if;
    return case when number < 2.5e-324 then '0' when number <= 1.7976931348623157e308 then content end;

  elsif kind = 'numeric' then
    if form = 'string' and content ~ '^-?[0-9]+(\.[0-9]+)?$' and length(content) <= 2002 then
      number := content::numeric;
    elsif form = 'number' then
      number := value::numeric;
    end if;
    -- 1e131071 takes 8 bytes to send and 128 KiB to write out.
    return case when abs(number) < 1e1000 and scale(number) <= 1000 then number::text end;

  elsif kind = 'timestamp' or kind = 'date' then
    if form <> 'string' or content !~ ('^[0-9]{4,6}-[0-9]{2}-[0-9]{2}'
        '([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?(Z|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?)?)?$') then
      return null;
    end if;
    -- Without a zone UTC is meant, without a time its midnight, whatever the session's time zone.
    content := case
      when strpos(content, ':') = 0 then content || 'T00:00Z'
      when content ~ ':.*[Z+-]' then content
      else content || 'Z'
    end;
    -- The pattern does not check the calendar: 2026-02-30 matches it.
    begin
      -- to_jsonb() writes ISO 8601 under every DateStyle. A date column takes the day in UTC, as it does in input.
      if kind = 'date' then
        return to_jsonb((content::timestamptz at time zone 'UTC')::date) #>> '{}';
      elsif (col ->> 'type') ~ '(with time zone|timestamptz)' then
        perform content::timestamptz;
        return content;
      end if;
      return to_jsonb(content::timestamptz at time zone 'UTC') #>> '{}';
    exception when data_exception then
      return null;
    end;
  end if;

  return null;
end
$$;

comment on function svc_hidden.filter_value(jsonb, jsonb) is
  'A filter value as text that its column''s type accepts, or null if it has another form. Part of '
  'svc_hidden.filter_sql(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and SET takes longer than the function.';

grant execute on function svc_hidden.filter_value(jsonb, jsonb) to svc_request, svc_anonymous, svc_authenticated, svc_system;
