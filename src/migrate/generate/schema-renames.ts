/**
 * Resolves renames. A missing and a new name in the same place may be a rename, or a drop and an addition. Only the author knows,
 * so the command line must say it (`--rename a:b`, `--drop a`); otherwise generation is refused. There is never a prompt.
 * Next hop: `schema-rename-steps.ts` carries a rename out.
 */
import { DefinitionError } from "../../kit/definition-error.ts";
import { short } from "../../postgres/schema-names.ts";
import { type FoundRename, type Kind, type Rename, renameSteps } from "./schema-rename-steps.ts";
import type { Snapshot } from "./snapshot.ts";

/** The author's options, as written: `from:to`, and names. */
export interface Answers {
  renames: readonly string[];
  drops: readonly string[];
}

/** Missing and new names of one kind in one place. */
export interface Turnover {
  kind: Kind;
  /** Key of the table or enum; empty for kinds that have their own keys. */
  container: string;
  gone: string[];
  fresh: string[];
}

/**
 * Applies the renames to a copy of the previous snapshot.
 *
 * @returns the copy with the new names, and the rename statements
 * @throws DefinitionError when an option matches nothing, or a change stays unresolved
 */
export function resolveRenames(previous: Snapshot, after: Snapshot, answers: Answers) {
  const before = structuredClone(previous);
  const statements: string[] = [];
  let pending = answers.renames.map(parse);
  while (pending.length > 0) {
    const turnovers = changes(before, after);
    const found = pending.flatMap((rename) => find(turnovers, rename) ?? []).at(0);
    if (!found) throw unknownRename(pending[0]?.text ?? "", turnovers);

    const { kind, container, from, to } = found;
    statements.push(...renameSteps[kind](before, from, to, container));
    pending = pending.filter((rename) => rename !== found.rename);
    // A column's table may be given by its old name.
    if (kind === "table" || kind === "enum") {
      for (const rename of pending) {
        const inside = `${short(from)}.`;
        if (rename.from.startsWith(inside)) rename.from = `${short(to)}.${rename.from.slice(inside.length)}`;
      }
    }
  }
  refuseOpen(changes(before, after), answers.drops);
  return { before, statements };
}

function parse(text: string): Rename {
  const [from = "", to = "", more] = text.split(":").map((name) => name.trim());
  if (from && to && more === undefined) return { text, from, to };
  throw new DefinitionError(`--rename ${text} is not a pair of names.`, {
    hint: "Write --rename old:new for a table, --rename table.old:table.new for a column.",
  });
}

function find(turnovers: readonly Turnover[], rename: Rename): FoundRename | undefined {
  for (const turnover of turnovers) {
    const { kind, container } = turnover;
    const from = turnover.gone.find((name) => isNamed(turnover, name, rename.from));
    // The new name may be written alone: in notes.title:heading, the table is clear.
    const to = turnover.fresh.find((name) => isNamed(turnover, name, rename.to) || name === rename.to);
    if (from !== undefined && to !== undefined) return { rename, kind, container, from, to };
  }
  return undefined;
}

/** Compares with or without the common schema. */
const isNamed = (turnover: Turnover, name: string, written: string) =>
  [label(turnover, name), `public.${label(turnover, name)}`].includes(written) ||
  (turnover.kind === "user field" && written === `user.${name}`);

const label = ({ container }: Turnover, name: string) => short(container ? `${container}.${name}` : name);

/** Missing and new names, by kind and place. Views hold no data, so they are dropped and recreated. */
function changes(before: Snapshot, after: Snapshot): Turnover[] {
  const turnover = (kind: Kind, container: string, had: object = {}, wants: object = {}): Turnover => ({
    kind,
    container,
    gone: Object.keys(had).filter((name) => !(name in wants)),
    fresh: Object.keys(wants).filter((name) => !(name in had)),
  });
  const asKeys = (values: readonly string[]) => Object.fromEntries(values.map((value) => [value, true]));
  return [
    // A table of the application never becomes one of the library's plugins.
    ...[true, false].map((isLibrarys) =>
      turnover("table", "", tablesOf(before, isLibrarys), tablesOf(after, isLibrarys)),
    ),
    turnover("enum", "", before.enums, after.enums),
    turnover("sequence", "", before.sequences, after.sequences),
    ...Object.entries(after.tables).flatMap(([key, { columns }]) =>
      key in before.tables ? turnover("column", key, before.tables[key]?.columns, columns) : [],
    ),
    ...Object.entries(after.enums).flatMap(([key, { values }]) =>
      key in before.enums ? turnover("value", key, asKeys(before.enums[key]?.values ?? []), asKeys(values)) : [],
    ),
    turnover("user field", "auth.user", before.svc.userFields, after.svc.userFields),
  ];
}

const tablesOf = ({ tables }: Snapshot, isLibrarys: boolean) =>
  Object.fromEntries(Object.entries(tables).filter(([key]) => key.startsWith("auth.") === isLibrarys));

function unknownRename(text: string, turnovers: readonly Turnover[]): DefinitionError {
  const all = (side: "gone" | "fresh") =>
    turnovers.flatMap((turnover) => turnover[side].map((name) => label(turnover, name))).join(", ") || "nothing";
  return new DefinitionError(`--rename ${text} matches no change of the schema.`, {
    hint: `Gone: ${all("gone")}. New: ${all("fresh")}.`,
  });
}

function refuseOpen(turnovers: readonly Turnover[], drops: readonly string[]): void {
  const isDropped = (turnover: Turnover, name: string) => drops.some((drop) => isNamed(turnover, name, drop));
  for (const drop of drops) {
    if (turnovers.some((turnover) => turnover.gone.some((name) => isNamed(turnover, name, drop)))) continue;
    throw new DefinitionError(`--drop ${drop}: nothing of this name was removed from the schema.`);
  }
  const questions = turnovers.flatMap((turnover) => {
    const gone = turnover.gone.filter((name) => !isDropped(turnover, name)).map((name) => label(turnover, name));
    const fresh = turnover.fresh.map((name) => label(turnover, name));
    if (gone.length === 0 || fresh.length === 0) return [];
    return [
      `${turnover.kind}: ${gone.join(", ")} ${gone.length > 1 ? "are" : "is"} gone, ${fresh.join(", ")} new.`,
      ...gone.flatMap((from) => fresh.map((to) => `    --rename ${from}:${to}`)),
      ...gone.map((from) => `    --drop ${from}`),
    ];
  });
  if (questions.length === 0) return;
  throw new DefinitionError(`Renamed, or dropped and created? Nothing was written.\n  ${questions.join("\n  ")}`, {
    hint: "Answer with an option of `npx svc migrate generate`: --rename keeps the data, --drop deletes it.",
  });
}
