/**
 * The bodies of `upsert` and `createMany`. Next hop: `crud-writes.ts` for the INSERT that they share with `create`.
 */
import type { CrudDefinition } from "../contract/crud.ts";
import { list, literal } from "../postgres/schema-names.ts";
import type { Writing } from "./crud-sql.ts";
import { findColumn, isVisible, item, qualified } from "./crud-text.ts";
import { insertion, insertionOfMany, populate, updates } from "./crud-writes.ts";

/**
 * The policies for inserts decide about the new row, and those for select and update about a row with the same key.
 * PostgreSQL refuses a row that they hide (42501). A softly deleted one is refused like create's (23505), but only after
 * the policies: a WHERE would be asked before them, and so would tell whether a hidden row is deleted.
 */
export function upsertion(crud: CrudDefinition): Writing {
  const isShown = isVisible(crud, "");
  const branch = (key: readonly string[]) => {
    const names = key.map((property) => findColumn(crud, property)?.name ?? "");
    const end = `on conflict (${list(names)}) do update set
${updates(crud).join(",\n")}
  returning ${item(crud)}${isShown && `, ${isShown}`} into result${isShown && ", is_shown"}`;
    return `  when ${literal(key.join())} then\n${insertion(crud, end)}`;
  };
  return {
    parameters: ["by text", "data jsonb", "changes jsonb"],
    volatility: "volatile",
    summary:
      `Inserts a row into ${crud.table}, or changes the one with the same key \`by\`, and returns it. ` +
      "`changes` lists the properties to change.",
    body: `declare
  input ${qualified(crud)};
  result json;${isShown && "\n  is_shown boolean;"}
begin
${populate(crud, "data")}

  case by
${crud.upsertBy.map(branch).join("\n")}
  end case;
${isShown && "  if not is_shown then\n    raise unique_violation using message = 'a removed row has this key';\n  end if;\n"}  return result;
end`,
  };
}

/**
 * One statement inserts all rows. If it fails, they are inserted one by one to find out which row is the reason; the
 * error undoes them too.
 */
export function creationOfMany(crud: CrudDefinition): Writing {
  const together = insertionOfMany(crud);
  const first = `  begin
    with added as (
      ${together}
      returning ${item(crud)} as it
    )
    select json_build_object('count', count(*), 'data', coalesce(json_agg(added.it), '[]')) into result from added;
    return result;
  exception when others then
    if sqlstate ~ '^(40|5|XX)' then
      raise;  -- a deadlock, a timeout, a lack of resources: not a matter of any row
    end if;
  end;

`;
  return {
    parameters: ["rows jsonb"],
    volatility: "volatile",
    summary: `Inserts rows into ${crud.table}, all or none, and returns {count, data}. An error names the row by its index.`,
    body: `declare
  data jsonb;
  input ${qualified(crud)};
  result json;
  results json[] := '{}';
  place integer := -1;
  state text;
  said text;
  detail text;
  advice text;
  rule text;
  on_schema text;
  on_table text;
begin
${together === null ? "" : first}  for data in select e.value from jsonb_array_elements(rows) as e loop
    place := place + 1;
${populate(crud, "data")}
${insertion(crud, `returning ${item(crud)} into result`)}
    if result is not null then
      results := results || result;
    end if;
  end loop;
  return json_build_object('count', cardinality(results), 'data', array_to_json(results));
exception when others then
  if place < 0 or sqlstate ~ '^(40|5|XX)' then
    raise;
  end if;
  get stacked diagnostics state = returned_sqlstate, said = message_text, detail = pg_exception_detail,
    advice = pg_exception_hint, rule = constraint_name, on_schema = schema_name, on_table = table_name;
  raise exception using errcode = state, message = said, detail = concat_ws(E'\\n', 'svc:row=' || place, nullif(detail, '')),
    hint = advice, constraint = rule, schema = on_schema, table = on_table;
end`,
  };
}
