/**
 * Takes the cursor of a list apart: the place that it holds becomes parameters of the list's statement. Which list the
 * cursor belongs to is checked by the statement (sql/crud/check_cursor.sql).
 *
 * The text is the caller's. A cursor that svc_hidden.cursor_text() would not write like that, and a key without a form that
 * its column's type surely accepts, give undefined: then `sql/crud/cursor_sql.sql` decides.
 */
import type { ColumnDescription, CrudDefinition } from "../contract/crud.ts";
import { isStorableText } from "../kit/storable-text.ts";
import { orderColumn } from "./crud-resource.ts";
import { exactText } from "./exact-text.ts";

/** Characters of a cursor. Those of long texts are not usual. */
const maxCursor = 4_000;

interface Start {
  /** As svc.list_statement() takes it: the numbers of the parameters. */
  at: { filters?: number; list?: number; key?: number; id?: number };
  /** Whether one plan suits all places: a single comparison starts the page, along an index if there is one. */
  suitsAll: boolean;
}

/** @param args of a list with `cursor` @param values of the statement; those of the cursor are added */
export function readCursor(crud: CrudDefinition, args: Record<string, unknown>, values: string[]): Start | undefined {
  const { cursor, filters, orderBy } = args;
  const at: Start["at"] = filters === undefined ? {} : { filters: values.push(JSON.stringify(filters)) };
  if (cursor === null) return { at, suitsAll: true };

  const sort = orderColumn(crud, orderBy);
  const place = placeOf(cursor);
  if (!sort || !place) return undefined;
  const isById = sort.property === "id";
  const key = isById || place.key === null ? null : keyText(sort, place.key);
  const id = keyText(crud.id, place.id);
  if (key === undefined || id === undefined) return undefined;
  at.list = values.push(place.list);
  if (key !== null) at.key = values.push(key);
  at.id = values.push(id);
  return { at, suitsAll: isById || sort.notNull };
}

interface Place {
  list: string;
  key: string | null;
  id: string;
}

function placeOf(cursor: unknown): Place | undefined {
  if (typeof cursor !== "string" || cursor.length > maxCursor) return undefined;
  const bytes = Buffer.from(cursor, "base64url");
  if (bytes.toString("base64url") !== cursor) return undefined;
  try {
    const place: unknown = JSON.parse(utf8.decode(bytes));
    if (!Array.isArray(place) || place.length !== 3) return undefined;
    const [list, key, id] = place;
    return isStorableText(list) && (key === null || isStorableText(key)) && isStorableText(id)
      ? { list, key, id }
      : undefined;
  } catch {
    return undefined;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const textTypes = /^(text|varchar|character varying|bpchar|citext)$/;

/** @returns the text, if the column's type surely accepts it as PostgreSQL writes its values */
function keyText(column: ColumnDescription, text: string): string | undefined {
  if (column.isArray || (column.kind === "text" && !textTypes.test(column.castType))) return undefined;
  return exactText(column, wireValue(column, text)) === undefined ? undefined : text;
}

/** The value on the wire whose column has this text. */
function wireValue({ kind }: ColumnDescription, text: string): unknown {
  switch (kind) {
    case "boolean":
      return text === "true" || text === "false" ? text === "true" : undefined;
    case "integer":
      return /^-?\d{1,10}$/.test(text) ? Number(text) : undefined;
    case "number":
      return /^-?\d{1,20}(\.\d{1,20})?(e[+-]\d{1,3})?$/.test(text) ? Number(text) : undefined;
    case "timestamp":
      return /^\S+ [\d:.]+(\+00)?$/.test(text) ? `${text.replace(" ", "T").replace(/\+00$/, "")}Z` : undefined;
    default:
      return text;
  }
}
