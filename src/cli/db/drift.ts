/**
 * `svc db drift`: reports manual changes to the database that are not in `migrations/` or `sql/`.
 * Next hop: `src/migrate/drift.ts`.
 */
import { DefinitionError } from "../../kit/definition-error.ts";
import { type Difference, findDrift } from "../../migrate/drift.ts";
import { migrationStatus } from "../../migrate/migration-status.ts";
import { describeVanished, vanishedOf } from "../../migrate/vanished.ts";
import { databaseCommand, say, targetOf } from "../command.ts";
import { flag } from "../options.ts";
import { during, print } from "../output.ts";
import { paint } from "../table.ts";

export const command = databaseCommand("admin", {
  args: { json: flag("A JSON array of {state, object, kind, part, expected, found, remedy}.") },
  run: async (cluster, _, config) => {
    const target = targetOf(config, cluster.urls.admin);
    await refuseUnapplied(target);
    const differences = await during("Applying the files to an empty database, to compare", () =>
      findDrift({ ...target, scratchUrl: config.database?.scratch ?? null }),
    );
    print(differences, () => differences.map(describe).join("\n"));
    say(summary(differences));
    if (differences.length > 0) process.exitCode = 1;
  },
});

/** Pending files are not drift, and would hide it. */
async function refuseUnapplied(target: Parameters<typeof migrationStatus>[0]): Promise<void> {
  const files = (await migrationStatus(target)).filter(({ state }) => state !== "applied");
  if (files.length === 0) return;
  const vanished = vanishedOf(files.filter(({ state }) => state === "missing").map(({ path }) => path));
  if (vanished.length > 0) throw new DefinitionError(describeVanished(vanished));
  throw new DefinitionError(`${files.length} files differ from what is applied here, such as ${files[0]?.path}.`, {
    hint: "`svc migrate status` lists them; `svc migrate` applies what is pending. Then run `svc db drift` again.",
  });
}

const colours = { missing: 31, unexpected: 33, differs: 36 } as const;

function describe({ state, object, kind, part, expected, found, remedy }: Difference): string {
  const name = kind === "itself" ? object : `${kind} ${part}${part ? " " : ""}of ${object}`;
  const [before, now] = shorten(expected, found);
  const lines = [`${paint(state, colours[state])}  ${name}`];
  if (before) lines.push(`  expected: ${before}`);
  if (now) lines.push(`  found:    ${now}`);
  return `${[...lines, `  ${remedy}`].join("\n")}\n`;
}

/** The first line in which two texts differ, such as those of a function. `--json` prints them completely. */
function shorten(expected: string | null, found: string | null): (string | undefined)[] {
  const [before, now] = [expected?.split("\n") ?? [], found?.split("\n") ?? []];
  const most = Math.max(before.length, now.length);
  if (most < 2) return [before[0], now[0]];
  const at = Array.from({ length: most }, (_, line) => line).find((line) => before[line] !== now[line]) ?? 0;
  return [before, now].map((lines) =>
    lines.length > 0 ? `line ${at + 1}: ${lines[at]?.trim() ?? "(none)"}` : undefined,
  );
}

function summary(differences: readonly Difference[]): string {
  if (differences.length === 0) return "No drift: the database matches the files.";
  const count = (state: Difference["state"]) => differences.filter((one) => one.state === state).length;
  return `${count("missing")} missing, ${count("unexpected")} unexpected, ${count("differs")} changed.`;
}
