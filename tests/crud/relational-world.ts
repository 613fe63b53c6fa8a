/**
 * Random tables with random policies, rows and relations for relational-evaluator.test.ts: references to any table, the
 * same one included, by an id or by a key of two columns, and join tables. Policies are written twice, as SQL and as a
 * predicate.
 */
import { random } from "./random.ts";
import { everybody, kinds, membersSql, quote, resources, tableSql } from "./relational-schema.ts";
import type { Column, Declared, Policy, Reference, Row, Table } from "./relational-types.ts";

const typeOf = (kind: string) => kinds.find(([name]) => name === kind)?.[1] as string;
const idKinds = ["integer", "text", "uuid", "bigint"];
/** The members of each schema's teams, as [user, team]. */
export type Memberships = [user: string, team: number][];

/** A schema, whose rows follow when the ids of their users are known. */
export function world(seed: number) {
  const { below, chance, pick, some, uuid: randomUuid } = random(seed);
  let memberships: Memberships = [];
  const members = `w${seed}_members`;
  const teamsOf = (user: string | null) => memberships.flatMap(([one, team]) => (one === user ? [team] : []));

  const column = (property: string, kind: string): Column => {
    const name = property === "id" ? "id" : chance(0.2) ? `${property} "of" A` : `c_${property.toLowerCase()}`;
    return { property, kind, name, type: typeOf(kind) };
  };

  // Step 1: tables, and references between them. A policy may only depend on an earlier table, or it would not end.
  const make = (name: string, hasPair: boolean): Table => ({
    name,
    columns: [],
    rows: [],
    policy: publicPolicy,
    relations: new Map(),
    options: null,
    hasPair,
  });
  const entities = Array.from({ length: 3 + below(3) }, (_, index) => make(`w${seed}_t${index}`, chance(0.5)));
  const references: Reference[] = [];
  for (const table of entities) {
    table.columns.push(column("id", pick(idKinds)), column("userId", "text"), column("team", "integer"));
    table.columns.push(column("open", "boolean"));
    if (table.hasPair) table.columns.push(column("a", "text"), column("b", "integer"));
    if (chance(0.5)) table.columns.push(column("createdAt", "timestamp"));
    if (chance(0.5)) table.columns.push(column("gone", pick(["boolean", "timestamp"])));
    for (const [index, [kind]] of some(kinds, 4).entries()) table.columns.push(column(`v${index}`, kind));
  }
  const refer = (from: Table, to: Table, name: string): Reference => {
    const byPair = to.hasPair && chance(0.5);
    const references = byPair ? ["a", "b"] : ["id"];
    const columns = byPair ? [`${name}A`, `${name}B`] : [`${name}Id`];
    for (const [index, property] of columns.entries()) {
      const { kind } = to.columns.find((one) => one.property === references[index]) as Column;
      from.columns.push(column(property, kind));
    }
    return { from, to, columns, references };
  };
  for (const table of entities) {
    for (let count = 1 + below(2); count > 0; count--) {
      references.push(refer(table, pick(entities), `r${references.length}`));
    }
  }
  const joins = Array.from({ length: 1 + below(2) }, (_, index) => {
    const table = make(`w${seed}_j${index}`, false);
    table.columns.push(
      column("id", "integer"),
      column("userId", "text"),
      column("team", "integer"),
      column("open", "boolean"),
    );
    if (chance(0.4)) table.columns.push(column("gone", "boolean"));
    const [near, far] = [refer(table, pick(entities), "near"), refer(table, pick(entities), "far")];
    return { table, near, far };
  });
  const tables = [...entities, ...joins.map(({ table }) => table)];
  const allReferences = [...references, ...joins.flatMap(({ near, far }) => [near, far])];

  // Step 2: relations of either kind, and what a resource offers of its table.
  const declared: Declared[] = [];
  const through = new Map<string, { name: string; through: string; on: string }>();
  for (const [index, reference] of references.entries()) {
    const { from, to, columns: local, references: foreign } = reference;
    const toOne = { target: to, many: false, local, foreign };
    from.relations.set(`one${index}`, toOne);
    declared.push({ table: from, name: `one${index}`, reference, kind: "one" });
    if (local.length === 1) from.relations.set(`r${index}`, toOne); // by the foreign key of r<index>Id
    const kind = chance(0.8) ? "many" : "single";
    to.relations.set(`${kind}${index}`, { target: from, many: kind === "many", local: foreign, foreign: local });
    declared.push({ table: to, name: `${kind}${index}`, reference, kind });
  }
  for (const [index, { table, near, far }] of joins.entries()) {
    for (const [here, there, name] of [
      [near, far, `over${index}`],
      [far, near, `back${index}`],
    ] as const) {
      here.to.relations.set(name, {
        target: there.to,
        many: true,
        local: here.references,
        foreign: there.references,
        through: { table, local: here.columns, foreign: there.columns },
      });
      through.set(name, { name, through: table.name, on: here.columns[0] as string });
    }
  }
  for (const table of tables) {
    if (!entities.includes(table) && chance(0.6)) continue;
    const properties = table.columns.map(({ property }) => property);
    const of = (...wanted: string[]) =>
      table.columns.filter(({ kind }) => wanted.includes(kind)).map((one) => one.property);
    const visible = ["id", ...properties.filter((property) => property !== "id" && chance(0.85))];
    const shown = (names: string[]) => names.filter((name) => visible.includes(name));
    const names = [...table.relations.keys()];
    const maxLimit = 1 + below(8);
    table.options = {
      allowAnonymous: chance(0.8),
      visible,
      allowedFilters: properties.filter(() => chance(0.8)),
      searchFields: some(of("text"), 2),
      softDelete: properties.includes("gone") && chance(0.8) ? "gone" : null,
      count: chance(0.9) ? "exact" : "none",
      defaultLimit: 1 + below(maxLimit),
      maxLimit,
      include: names.map((name) => through.get(name) ?? name).filter(() => chance(0.9)),
      groupBy: shown(of("text", "integer", "boolean", "bigint", "timestamp")),
      measures: [
        "count",
        ...shown(of("integer", "bigint")).flatMap((one) => [`sum:${one}`, `min:${one}`, `max:${one}`]),
        ...shown(of("timestamp")).map((one) => `max:${one}`),
      ],
    };
    for (const name of names) {
      if (!table.options.include.some((one) => name === (typeof one === "string" ? one : one.name)))
        table.relations.delete(name);
    }
  }

  // Step 3: policies.
  const sqlOf = (table: Table, property: string) =>
    quote((table.columns.find((one) => one.property === property) as Column).name);
  const me = "(select svc.current_user_id())";
  for (const [index, table] of tables.entries()) {
    const userId = sqlOf(table, "userId");
    const isMine = (row: Row, user: string | null) => user !== null && row.userId === user;
    const parents = references.filter(({ from, to }) => from === table && entities.indexOf(to) < index);
    const choices: Policy[] = [
      publicPolicy,
      { what: "signed in", roles: signedIn, using: "true", sees: (_, user) => user !== null },
      { what: "own", roles: signedIn, using: `${userId} = ${me}`, sees: isMine },
      {
        what: "own or open",
        roles: everybody,
        using: `${sqlOf(table, "open")} or ${userId} = ${me}`,
        sees: (row, user) => row.open === true || isMine(row, user),
      },
      {
        what: "members",
        roles: signedIn,
        using: `${sqlOf(table, "team")} in (select team from ${members} where user_id = ${me})`,
        sees: (row, user) => teamsOf(user).includes(row.team as number),
      },
      ...parents.map(
        ({ to, columns, references: keys }): Policy => ({
          what: `with ${to.name}`,
          roles: everybody,
          using: `(${columns.map((one) => sqlOf(table, one))}) in (select ${keys.map((one) => sqlOf(to, one))} from ${to.name})`,
          sees: (row, user) =>
            to.rows.some(
              (parent) =>
                columns.every((one, at) => row[one] !== null && row[one] === parent[keys[at] as string]) &&
                to.policy.sees(parent, user),
            ),
        }),
      ),
    ];
    table.policy = pick([publicPolicy, ...choices]);
  }
  // Step 4: rows. Few values, so that they meet; nulls, ties, and references to rows that there are not.
  const value = (kind: string): unknown => {
    if (chance(0.15)) return null;
    if (kind === "text") return pick(["", "a", "ab", "abc", "b", "ba", "zz"]);
    if (kind === "integer") return below(4) - 1;
    if (kind === "bigint") return String(9_007_199_254_740_990n + BigInt(below(6)));
    if (kind === "numeric") return pick(["-1.50", "0.00", "2.25", "10.00"]);
    if (kind === "number") return pick([-0.5, 0, 1.25, 1e20]);
    if (kind === "boolean") return chance(0.5);
    if (kind === "timestamp") return `2026-0${1 + below(3)}-0${1 + below(3)}T0${below(3)}:00:00+00:00`;
    if (kind === "date") return `2026-01-0${1 + below(5)}`;
    return pick(uuids);
  };
  const uuids = Array.from({ length: 4 }, randomUuid);
  const ids: Record<string, (index: number) => unknown> = {
    integer: (index) => index + 1,
    text: (index) => `k${String.fromCharCode(97 + index)}`,
    bigint: (index) => String(9_007_199_254_740_993n + BigInt(index)),
    uuid: () => randomUuid(),
  };
  /** @returns the SQL of tables, policies and rows */
  const fill = (users: string[]): string => {
    memberships = users.flatMap((user) => some([1, 2, 3], 2).map((team): [string, number] => [user, team]));
    for (const table of tables) {
      const size = chance(0.05) ? 0 : entities.includes(table) ? 3 + below(12) : 8 + below(20);
      const idKind = (table.columns[0] as Column).kind;
      table.rows = Array.from(
        { length: size },
        (_, index) =>
          Object.fromEntries(
            table.columns.map(({ property, kind }) => {
              if (property === "id") return ["id", (ids[idKind] as (index: number) => unknown)(index)];
              if (property === "userId") return [property, pick([...users, null])];
              if (property === "team") return [property, pick([1, 2, 3, null])];
              if (property === "gone" && kind === "boolean") return [property, chance(0.2)];
              if (property === "gone") return [property, chance(0.2) ? "2026-01-01T00:00:00+00:00" : null];
              if (table.hasPair && property === "a") return [property, chance(0.1) ? null : `p${index % 3}`];
              if (table.hasPair && property === "b") return [property, chance(0.1) ? null : Math.floor(index / 3)];
              return [property, value(kind)];
            }),
          ) as Row,
      );
    }
    for (const { from, to, columns, references: keys } of allReferences) {
      for (const row of from.rows) {
        const target = to.rows.length > 0 && chance(0.85) ? pick(to.rows) : null;
        for (const [index, property] of columns.entries())
          row[property] = target ? target[keys[index] as string] : null;
        if (target && chance(0.05)) row[columns.at(-1) as string] = null; // half of a key, or none
      }
    }
    return [membersSql(members, memberships), ...tables.map(tableSql)].join("\n");
  };

  return { seed, tables, fill, procedures: resources(tables, declared, allReferences) };
}

export type World = ReturnType<typeof world>;

const signedIn = "svc_authenticated";
const publicPolicy: Policy = { what: "public", roles: everybody, using: "true", sees: () => true };
