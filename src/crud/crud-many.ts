/**
 * The bodies of `upsert` and of the operations on many rows. Next hop: `crud-writes.ts` for the INSERT that they share with `create`.
 */
import type { CrudDefinition } from "../contract/crud.ts";
import { list, literal } from "../postgres/schema-names.ts";
import { findColumn } from "./crud-definition.ts";
import { byId, functionName, item, notDeleted, qualified, searchPath, toWire, type Writing } from "./crud-text.ts";
import { blank, insertion, insertionOfMany, insertPath, populate, removal, updates } from "./crud-writes.ts";

/**
 * The policies for inserts decide about the new row, and those for select and update about a row with the same key.
 * PostgreSQL refuses a row that they hide (42501). A softly deleted one is refused like create's (23505), but only after
 * the policies: a WHERE would be asked before them, and so would tell whether a hidden row is deleted.
 *
 * The columns of ON CONFLICT cannot be qualified. Beside them variables are: a table may have a column named "input".
 */
export function upsertion(crud: CrudDefinition): Writing {
  const isShown = notDeleted(crud, "");
  const branch = (key: readonly string[]) => {
    const names = key.map((property) => findColumn(crud, property)?.name ?? "");
    const end = `on conflict (${list(names)}) do update set
${updates(crud, "local.input", `${functionName(crud, "upsert")}.changes`).join(",\n")}
  returning ${item(crud)}${isShown && `, ${isShown}`} into result${isShown && ", is_shown"}`;
    return `  when ${literal(key.join())} then\n${insertion(crud, end)}`;
  };
  return {
    parameters: ["by text", "data jsonb", "changes jsonb"],
    volatility: "volatile",
    searchPath: insertPath(crud),
    conflict: "use_column",
    summary:
      `Inserts a row into ${crud.table}, or changes the one with the same key \`by\`, and returns it. ` +
      "`changes` lists the properties to change.",
    body: `<<local>>
declare
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
  const first = `${blank(crud, "one.data")
    .map((line) => `${line}\n`)
    .join("")}  begin
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
    searchPath: insertPath(crud),
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
  raise exception using errcode = state, message = said, detail = concat_ws(E'\\n', format('svc:at=["rows",%s]', place), nullif(detail, '')),
    hint = advice, constraint = rule, schema = on_schema, table = on_table;
end`,
  };
}

export const updateOfMany = (crud: CrudDefinition): Writing => ({
  ...changeOfMany(crud, "update", `update ${qualified(crud)} as t set\n${updates(crud, "($1)", "$2").join(",\n")}`),
  parameters: ["args jsonb", "changes jsonb"],
  summary:
    `Changes the rows of ${crud.table} that match {filters}, at most {max}, and returns {count}. ` +
    "Takes the changes of each alone in {rows}; {dry} returns the ids and changes nothing.",
});

export const removalOfMany = (crud: CrudDefinition): Writing => ({
  ...changeOfMany(crud, "remove", removal(crud)),
  parameters: ["args jsonb"],
  summary:
    `${crud.softDelete ? "Marks as deleted" : "Deletes"} the rows of ${crud.table} that match {filters}, at most {max}, and ` +
    "returns {count}. Takes their ids in {rows}; {dry} returns them and changes nothing.",
});

/**
 * One statement changes all matching rows that the caller sees and may change; the excess is an error, which undoes
 * it. RETURNING reads a column, so that the policies for select apply even without a condition.
 *
 * The filters are part of the text, like those of a list, and types and operators are looked up as there.
 */
function changeOfMany(
  crud: CrudDefinition,
  operation: "update" | "remove",
  change: string,
): Omit<Writing, "parameters" | "summary"> {
  const isUpdate = operation === "update";
  const idType = byId(crud).parameter.split(" ")[1];
  const text = `with changed as (${change}\n  where true${notDeleted(crud, " and ")}`;
  return {
    volatility: "volatile",
    searchPath,
    body: `declare${isUpdate ? `\n  input ${qualified(crud)};` : ""}
  changed bigint;
  ids json;
  one jsonb;
begin
  if args ? 'rows' then  -- a hook has looked at each
    for one in select e.value from jsonb_array_elements(args -> 'rows') as e loop
      if svc_crud.${functionName(crud, operation)}((one ->> 'id')::${idType}${isUpdate ? ", one -> 'set'" : ""}) is null then
        raise exception 'a row is gone' using errcode = 'SV409';
      end if;
    end loop;
    return json_build_object('count', jsonb_array_length(args -> 'rows'));
  end if;

${isUpdate ? `${populate(crud, "changes")}\n` : ""}  begin
    -- One row. Unlike EXECUTE … INTO, a loop refuses a second statement in the text.
    for changed, ids in execute ${literal(text)} || svc_hidden.exact_filter(svc_crud.${crud.prefix}_resource(), args -> 'filters')
      || ${literal(` returning ${toWire(crud.id)} as id) select count(*), coalesce(json_agg(id), '[]') from changed`)}${isUpdate ? " using input, changes" : ""}
    loop
    end loop;
    if changed > (args -> 'max')::bigint then
      raise exception 'is %, but at least % rows match, so nothing was changed', args ->> 'max', changed
        using errcode = '22023', detail = 'svc:invalid=["max"]';
    end if;
    if args ? 'dry' then
      raise exception using errcode = 'SVDRY';
    end if;
  exception when sqlstate 'SVDRY' then
    return json_build_object('ids', ids);
  end;
  return json_build_object('count', changed);
end`,
  };
}
