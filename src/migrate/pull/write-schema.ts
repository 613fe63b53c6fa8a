/**
 * A catalog as the text of a schema file. Declarations refer only to what stands above them, except where tables refer
 * to each other in a circle.
 * Next hop: `write-columns.ts`, and `write-table.ts` for keys and indexes.
 */
import { keyOf } from "../../kit/written-names.ts";
import { derivedName } from "../../postgres/schema-names.ts";
import type { Catalog, PulledColumn, PulledTable } from "./catalog.ts";
import type { PulledPolicy } from "./left-behind.ts";
import { givenName, reservedWords } from "./names.ts";
import { type Module, writeColumn } from "./write-columns.ts";
import { type Declared, type Find, hasUsualName, writeMembers } from "./write-table.ts";

/** @returns the text of a module that exports the tables, views and enums */
export const writeSchema = (catalog: Catalog): string => new SchemaFile(catalog).text();

const identity = ({ schema, name }: { schema: string; name: string }) => JSON.stringify([schema, name]);

/** As comments. JavaScript also ends a line at U+2028 and U+2029, which JSON does not escape. */
function policiesIn(which: string, policies: readonly PulledPolicy[], on = (_: PulledPolicy) => ""): string {
  const lines = policies.map((one) => `${JSON.stringify(one.name)}${on(one)} ${one.rule}`.replace(/\s+/g, " "));
  return lines.length > 0 ? `// ${which} in the old database:\n${lines.map((line) => `//   ${line}\n`).join("")}` : "";
}

class SchemaFile {
  readonly #catalog: Catalog;
  readonly #tables: PulledTable[];
  readonly #core = new Set<string>();
  #usesSql = false;
  /** Constants of schemas, enums, types and tables share the module's scope with what it imports; `t` would be hidden by a table's. */
  readonly #names: Set<string>;
  readonly #schemas = new Map<string, string>();
  readonly #enums = new Map<string, string>();
  readonly #types = new Map<string, string>();
  readonly #declared = new Map<string, Declared>();

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
    this.#tables = inOrder(catalog.tables);
    this.#names = new Set([...reservedWords, ...builders, "sql", "t"]);
    const schemas = [...catalog.enums, ...catalog.tables]
      .map(({ schema }) => schema)
      .filter((name) => name !== "public");
    for (const name of new Set(schemas)) this.#schemas.set(name, givenName(`${name}_schema`, this.#names));
    for (const one of catalog.enums) this.#enums.set(identity(one), givenName(one.name, this.#names));
    for (const [place, table] of this.#tables.entries()) {
      this.#declared.set(identity(table), {
        place,
        constant: givenName(table.name, this.#names),
        columns: propertiesOf(table),
      });
    }
  }

  text(): string {
    const tables = this.#tables.map((table) => this.#table(table));
    const enums = this.#catalog.enums.map(({ schema, name, values }) => {
      const maker = this.#maker(schema, "pgEnum", "enum");
      return `export const ${this.#enums.get(identity({ schema, name }))} = ${maker}(${JSON.stringify(name)}, [${values.map((value) => JSON.stringify(value)).join(", ")}]);`;
    });
    const types = [...this.#types].map(([type, constant]) => {
      const custom = this.#module.core("customType");
      return `const ${constant} = ${custom}<{ data: ${dataOf(type)} }>({ dataType: () => ${JSON.stringify(type)} });`;
    });
    const schemas = [...this.#schemas].map(
      ([name, constant]) => `export const ${constant} = ${this.#module.core("pgSchema")}(${JSON.stringify(name)});`,
    );
    const names = [...this.#core].sort((a, b) => (a.replace("type ", "") < b.replace("type ", "") ? -1 : 1));
    const imports = [
      ...(this.#usesSql ? ['import { sql } from "drizzle-orm";'] : []),
      `import {\n${names.map((name) => `  ${name},\n`).join("")}} from "drizzle-orm/pg-core";`,
    ];
    const header = "/** Tables that existed before: `svc db pull` has written this file. It is yours to change. */";
    const others = this.#catalog.policies.filter((one) => !this.#declared.has(identity({ ...one, name: one.table })));
    const blocks = [
      [header, ...imports].join("\n"),
      ...[schemas, enums, types].map((lines) => lines.join("\n")),
      ...tables,
      policiesIn("Policies of partitions", others, ({ schema, table }) => ` on ${schema}.${table}`).trimEnd(),
    ];
    return `${blocks.filter(Boolean).join("\n\n")}\n`;
  }

  readonly #module: Module = {
    core: (name, kind) => {
      this.#core.add(kind === "type" ? `type ${name}` : name);
      return name;
    },
    sql: (text) => {
      this.#usesSql = true;
      return `sql\`${text.replace(/[`\\]|\$\{/g, "\\$&")}\``;
    },
    enumType: (schema, name) => this.#enums.get(identity({ schema, name })),
    customType: (type) => {
      const known = this.#types.get(type) ?? givenName(type.replace(/^.*\.|\(.*$/g, ""), this.#names);
      this.#types.set(type, known);
      return known;
    },
  };

  /** `pgTable`, or `sales.table` in another schema than public. */
  #maker(schema: string, inPublic: string, elsewhere: string): string {
    const constant = this.#schemas.get(schema);
    return constant ? `${constant}.${elsewhere}` : this.#module.core(inPublic);
  }

  #table(table: PulledTable): string {
    const { schema, name, kind, columns } = table;
    const declared = this.#declared.get(identity(table)) as Declared;
    const lines = columns.map((column) => {
      const written = writeColumn(column, this.#placeOf(table, column), this.#module);
      return `    ${keyOf(declared.columns.get(column.name) as string)}: ${written},\n`;
    });
    const body = `\n  ${JSON.stringify(name)},\n  {\n${lines.join("")}  },\n`;
    if (kind !== "table") {
      const maker =
        kind === "view"
          ? this.#maker(schema, "pgView", "view")
          : this.#maker(schema, "pgMaterializedView", "materializedView");
      return `export const ${declared.constant} = ${maker}(${body}).existing();`;
    }
    const find: Find = (key) => this.#declared.get(identity(key));
    const { members, looksAhead } = writeMembers(table, declared, this.#module, find);
    // Otherwise TypeScript would need the type of a table to find the type of that table.
    const returns = looksAhead ? `: ${this.#module.core("PgTableExtraConfigValue", "type")}[]` : "";
    const list = members.map((member) => `    ${member},\n`).join("");
    const extra = members.length > 0 ? `  (t)${returns} => [\n${list}  ],\n` : "";
    const policies = this.#catalog.policies.filter((one) => one.schema === schema && one.table === name);
    const before = policiesIn("Its policies", policies);
    return `${before}export const ${declared.constant} = ${this.#maker(schema, "pgTable", "table")}(${body}${extra});`;
  }

  #placeOf(table: PulledTable, column: PulledColumn) {
    const key = table.primaryKey?.columns;
    return {
      isKey: key?.length === 1 && key[0] === column.name && hasUsualName(table),
      usualSequence: derivedName(table.name, column.name, "seq"),
      counts: this.#counts(table, column),
    };
  }

  /** Whether a column has the values of a sequence: its own, or that of a column that it refers to. */
  #counts(table: PulledTable, column: PulledColumn, seen = new Set<string>()): boolean {
    if (column.sequence) return true;
    const here = JSON.stringify([table.schema, table.name, column.name]);
    if (seen.has(here)) return false;
    seen.add(here);
    return table.foreignKeys.some(({ columns, references, schema, table: name }) => {
      const other = this.#tables.find((one) => one.schema === schema && one.name === name);
      const referred = other?.columns.find((one) => one.name === references[columns.indexOf(column.name)]);
      return other !== undefined && referred !== undefined && this.#counts(other, referred, seen);
    });
  }
}

/** A key of one column is called `id`, as generated operations want it. */
function propertiesOf({ columns, primaryKey }: PulledTable): Map<string, string> {
  const names = new Set<string>();
  const [key, ...more] = primaryKey?.columns ?? [];
  const isNamed = columns.some(({ name }) => name === "id");
  if (key === undefined || more.length > 0 || isNamed)
    return new Map(columns.map(({ name }) => [name, givenName(name, names)]));
  const id = givenName("id", names);
  return new Map(columns.map(({ name }) => [name, name === key ? id : givenName(name, names)]));
}

/** Types whose values PostgreSQL's driver does not give as text. */
const dataOf = (type: string) => (type === "bytea" ? "Uint8Array" : "string");

/** Referenced tables first; in a circle, by name. Views last. */
function inOrder(tables: readonly PulledTable[]): PulledTable[] {
  const byKey = new Map(tables.map((table) => [identity(table), table]));
  const done = new Set<PulledTable>();
  const visit = (table: PulledTable) => {
    if (done.has(table)) return;
    done.add(table);
    for (const { schema, table: name } of table.foreignKeys) {
      const referenced = byKey.get(identity({ schema, name }));
      if (referenced) visit(referenced);
    }
    // A table of a circle that is visited already stands below.
    ordered.push(table);
  };
  const ordered: PulledTable[] = [];
  for (const table of tables) if (table.kind === "table") visit(table);
  return [...ordered, ...tables.filter(({ kind }) => kind !== "table")];
}

/** Names that the file may import. */
const builders =
  "bigint bigserial bit boolean char check cidr customType date doublePrecision foreignKey halfvec index inet integer interval json jsonb line macaddr macaddr8 numeric pgEnum pgMaterializedView pgSchema pgTable pgView point primaryKey real serial smallint smallserial sparsevec text time timestamp unique uniqueIndex uuid varchar vector".split(
    " ",
  );
