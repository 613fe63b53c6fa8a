/** GraphQL names, from the prefix of `createCrud`, its columns' properties, and the labels of enums. */
import type { ExposedTable } from "./exposed.ts";

/** PostGraphile's inflection. */
export type Words = GraphileBuild.Inflection;

/** Types of every history. */
export const historyTypes = { page: "RowHistory", entry: "RowChange" } as const;

/** Names that GraphQL and PostGraphile reserve, those of PostgreSQL's types among them, whether a column has the type or not. */
const taken = new RegExp(
  `^(${[
    ...Object.values(historyTypes),
    "Query|Mutation|Subscription|Node|Cursor|PageInfo|Int|Float|String|Boolean|ID|UUID|JSON|JSONPath|XML|Oid|KeyValueHash",
    "Big\\w+|Date\\w*|Time\\w*|Interval\\w*|Reg[A-Z]\\w*|TSVector|TSQuery|BitString|Base64EncodedBinary",
    "Box|Circle|Line|LineSegment|Path|Point|Polygon|InternetAddress|CidrAddress|MacAddress8?",
  ].join("|")})$`,
);
const endings = /(Input|Patch|Connection|Edge|Condition|OrderBy)$/;

/** @returns for example `Note` for the prefix `notes` */
export function typeName(words: Words, { crud }: ExposedTable): string {
  const name = words.upperCamelCase(words.singularize(crud.prefix));
  return taken.test(name) || endings.test(name) ? `${name}Row` : name;
}

/** @returns for example `notes`; `allSheep` where singular and plural are the same */
export function listName(words: Words, table: ExposedTable): string {
  const many = words.camelCase(words.pluralize(table.crud.prefix));
  return many === rowName(words, table) ? words.camelCase(`all-${many}`) : many;
}

/** @returns for example `note` */
export const rowName = (words: Words, table: ExposedTable) => words.camelCase(typeName(words, table));

/**
 * The label as a GraphQL name: invalid characters are replaced, by their codes where two labels would otherwise get the
 * same name.
 *
 * @returns for example `it_s_complicated`
 */
export function enumValueName(label: string, labels: readonly string[]): string {
  const plain = (text: string) => asName(text.replace(/\W/g, "_"));
  const isAlone = labels.every((other) => other === label || plain(other) !== plain(label));
  if (isAlone) return plain(label);
  return asName(label.replace(/\W/gu, (sign) => `_${sign.codePointAt(0)?.toString(16)}_`));
}

const asName = (text: string) =>
  /^([A-Za-z]|_(?!_))/.test(text) && !/^(true|false|null)$/.test(text) ? text : `V_${text}`;
