/**
 * `svc storage`: lists stored files, verifies their bytes, and removes files without a row.
 * Next hop: `sql/storage/list_storage_objects.sql`, `src/storage/verify.ts`, `src/storage/sweep.ts`.
 */
import { DefinitionError } from "../kit/definition-error.ts";
import { isUuid } from "../kit/uuid.ts";
import { claimStorage } from "../storage/claim.ts";
import { createDriver, objectKey } from "../storage/storage.ts";
import { sweepStorage } from "../storage/sweep.ts";
import { verifyStorage } from "../storage/verify.ts";
import { createLog } from "../telemetry/log.ts";
import { defineCommand } from "./define.ts";
import { rowsOf, systemCommand } from "./inspect.ts";
import { flag, idReader, limit, number, text, word } from "./options.ts";
import { conclude, counter, during, output, print, printRows } from "./output.ts";
import { details, paint, time } from "./table.ts";

interface StoredRow {
  id: string;
  bytes_id: string | null;
  user_id: string | null;
  name: string;
  size: string;
  type: string;
  visibility: "private" | "public";
  sha256: string;
  created_at: Date;
}

const ls = systemCommand({
  description: "List stored files, newest first.",
  args: { user: text("Only what this user, named by id, owns. (Default: everybody's)"), limit },
  run: async (pool, { user, limit }) =>
    printRows(await rowsOf<StoredRow>(pool, "list_storage_objects", null, user, limit), {
      id: "id",
      size: "size",
      type: "type",
      visibility: ({ visibility }) => paint(visibility, visibility === "public" ? 33 : 39),
      owner: "user_id",
      "stored (UTC)": "created_at",
      name: "name",
    }),
});

const show = systemCommand({
  description: "Show one stored file in full.",
  args: { id: word("The storage id.", idReader("a storage id", isUuid, "Ids are UUIDs: see `svc storage ls`.")) },
  run: async (pool, { id }) => {
    const [row] = await rowsOf<StoredRow>(pool, "list_storage_objects", id, null, 1);
    if (!row) throw new DefinitionError(`Nothing is stored under ${id}.`);
    print(row, () => describe(row));
  },
});

const verify = systemCommand({
  description: "Read all bytes and compare them with their rows. Exit code 1 on a difference.",
  run: async (pool, _, config) => {
    let [files, bytes] = [0, 0];
    const damaged: { id: string; damage: string }[] = [];
    const count = counter();
    for await (const { id, size, damage } of verifyStorage(createDriver(config.storage), pool)) {
      files++;
      bytes += size;
      count(() => `${files} files, ${bytes} bytes so far …`);
      if (!damage) continue;
      damaged.push({ id, damage });
      if (!output.json) process.stdout.write(`${id}  ${paint(damage, 31)}\n`);
    }
    const found = damaged.length === 0 ? "all are intact" : `${damaged.length} are damaged`;
    conclude({ files, bytes, damaged }, `${files} files, ${bytes} bytes: ${found}.`);
    if (damaged.length > 0) process.exitCode = 1;
  },
});

const gc = systemCommand({
  description: "Remove bytes that belong to no stored file; a job does the same once a day.",
  args: {
    hours: number("Keep bytes younger than this: they may be an upload.", { default: 24, least: 0 }),
    adopt: flag(
      "Only take over files that another database has swept, or a later state of this one: this database's sweeps remove what has no row in it. (Default: no)",
    ),
  },
  run: async (pool, { hours, adopt }, config) => {
    const driver = createDriver(config.storage);
    await claimStorage({ driver, pool }, adopt);
    if (adopt) {
      return conclude({ removed: 0 }, "From now on this database sweeps the stored files. Nothing was removed yet.");
    }
    const removed = await during("Comparing the bytes with their rows", () =>
      sweepStorage({ driver, pool, log: createLog("warn") }, hours * 3_600_000),
    );
    conclude({ removed }, removed === 0 ? "Nothing to remove." : `Removed the bytes of ${removed} files.`);
  },
});

export const command = defineCommand({ subCommands: { ls, show, verify, gc } });

const describe = ({ id, bytes_id, name, size, type, visibility, user_id, sha256, created_at }: StoredRow) =>
  details({
    id,
    name,
    size: `${size} bytes`,
    type,
    visibility,
    owner: user_id,
    sha256,
    bytes: objectKey(bytes_id ?? id),
    stored: `${time(created_at)} UTC`,
  });
