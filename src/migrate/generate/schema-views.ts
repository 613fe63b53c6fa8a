/**
 * Views that read other views: all that must be made anew with one that changes, and the order of their statements.
 * Next hop: `schema-tables.ts`, whose statements these are.
 */
import { mentions, short } from "../../postgres/schema-names.ts";
import type { Snapshot, View } from "./snapshot.ts";

type Views = Record<string, View>;

/**
 * Removes views that are gone or changed, that read tables with dropped or converted columns, or that read such a view.
 *
 * @param moving keys of those tables
 * @returns the keys of the removed views
 */
export function clearViews(snapshot: Snapshot, end: Snapshot, moving: readonly string[]): Set<string> {
  const cleared = new Set<string>();
  const names = moving.map((key) => snapshot.tables[key]?.name).filter((name) => name !== undefined);
  for (let before = -1; before < cleared.size; ) {
    before = cleared.size;
    for (const [key, { definition = "" }] of Object.entries(snapshot.views)) {
      const isReader = names.some((name) => mentions(definition, name));
      if (!isReader && end.views[key]?.definition === definition) continue;
      delete snapshot.views[key];
      cleared.add(key);
      names.push(short(key));
    }
  }
  return cleared;
}

/** The keys of the views, each after those that it reads. */
function inOrder(views: Views): string[] {
  const rest = new Map(Object.entries(views).map(([key, { definition = "" }]) => [key, definition]));
  const ordered: string[] = [];
  const free = (reads: typeof mentions) =>
    [...rest].find(([key, text]) => ![...rest.keys()].some((other) => other !== key && reads(text, short(other))))?.[0];
  while (rest.size > 0) {
    // A name may be that of a column, too. Where that makes a circle, only names after FROM and JOIN count.
    const next = free(mentions) ?? free(readsFrom) ?? ([...rest.keys()][0] as string);
    rest.delete(next);
    ordered.push(next);
  }
  return ordered;
}

const readsFrom = (definition: string, name: string): boolean =>
  [...definition.matchAll(/\b(?:from|join)\s+\(*(?:only\s+|lateral\s+)?((?:"[^"]+"|\w+)(?:\.(?:"[^"]+"|\w+))?)/gi)]
    .map(([, read = ""]) => read.split(".").at(-1)?.replaceAll('"', ""))
    .includes(name);

const viewStatement = /^(CREATE|DROP)(?: MATERIALIZED)? VIEW (?:IF (?:NOT )?EXISTS )?(?:"([^"]+)"\.)?"([^"]+)"/;

export const createsView = (statement: string) => viewStatement.exec(statement)?.[1] === "CREATE";

/** The statements, first with the drops of views, each before what it reads; last with those that create views. */
export function orderViews(statements: readonly string[], from: Views, to: Views): string[] {
  const dropped = inOrder(from).reverse();
  const created = inOrder(to);
  const of = (verb: string, order: readonly string[]) =>
    statements
      .flatMap((statement) => {
        const [, found, schema = "public", name] = viewStatement.exec(statement) ?? [];
        return found === verb ? [{ statement, place: order.indexOf(`${schema}.${name}`) }] : [];
      })
      .sort((a, b) => a.place - b.place)
      .map(({ statement }) => statement);
  return [
    ...of("DROP", dropped),
    ...statements.filter((statement) => !viewStatement.test(statement)),
    ...of("CREATE", created),
  ];
}
