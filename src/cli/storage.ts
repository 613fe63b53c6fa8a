/**
 * `svc storage`: lists stored files, verifies their bytes, and removes files without a row.
 * Next hop: `sql/storage/list_storage_objects.sql`, `src/storage/verify.ts`, `src/storage/sweep.ts`.
 */
import type pg from "pg";
import { DefinitionError } from "../kit/definition-error.ts";
import { isUuid } from "../kit/uuid.ts";
import { claimStorage } from "../storage/claim.ts";
import { createDriver, objectKey } from "../storage/storage.ts";
import { sweepStorage } from "../storage/sweep.ts";
import { verifyStorage } from "../storage/verify.ts";
import { createLog } from "../telemetry/log.ts";
import { cwdArgument } from "./command.ts";
import { defineCommand } from "./define.ts";
import { withSystem } from "./inspect.ts";
import { limitArgument, wholeNumber } from "./options.ts";
import { conclude, counter, during, output, print } from "./output.ts";
import { details, paint, table, time } from "./table.ts";

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

const ls = defineCommand({
  description: "List stored files, newest first.",
  args: {
    ...cwdArgument,
    user: { type: "string", description: "Only what this user, named by id, owns. (Default: everybody's)" },
    ...limitArgument,
  },
  run: ({ args }) => {
    const limit = wholeNumber("limit", args.limit);
    return withSystem(args.cwd, async (pool) => {
      const rows = await read(pool, null, args.user ?? null, limit);
      const head = ["id", "size", "type", "visibility", "owner", "stored (UTC)", "name"];
      print(rows, () => table(head, rows.map(line)));
    });
  },
});

const show = defineCommand({
  description: "Show one stored file in full.",
  args: {
    ...cwdArgument,
    id: { type: "positional", description: "The storage id.", required: true },
  },
  run: ({ args }) =>
    withSystem(args.cwd, async (pool) => {
      if (!isUuid(args.id)) {
        throw new DefinitionError(`"${args.id}" is not a storage id.`, {
          hint: "Ids are UUIDs: see `svc storage ls`.",
        });
      }
      const [row] = await read(pool, args.id, null, 1);
      if (!row) throw new DefinitionError(`Nothing is stored under ${args.id}.`);
      print(row, () => describe(row));
    }),
});

const verify = defineCommand({
  description: "Read all bytes and compare them with their rows. Exit code 1 on a difference.",
  args: cwdArgument,
  run: ({ args }) =>
    withSystem(args.cwd, async (pool, config) => {
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
    }),
});

const gc = defineCommand({
  description: "Remove bytes that belong to no stored file; a job does the same once a day.",
  args: {
    ...cwdArgument,
    hours: {
      type: "string",
      description: "Keep bytes younger than this: they may be an upload. (Default: 24)",
      default: "24",
    },
    adopt: {
      type: "boolean",
      description:
        "Only take over files that another database has swept, or a later state of this one: this database's sweeps remove what has no row in it. (Default: no)",
      default: false,
    },
  },
  run: ({ args }) => {
    const age = wholeNumber("hours", args.hours, 0) * 3_600_000;
    return withSystem(args.cwd, async (pool, config) => {
      const driver = createDriver(config.storage);
      await claimStorage({ driver, pool }, args.adopt);
      if (args.adopt) {
        return conclude({ removed: 0 }, "From now on this database sweeps the stored files. Nothing was removed yet.");
      }
      const removed = await during("Comparing the bytes with their rows", () =>
        sweepStorage({ driver, pool, log: createLog("warn") }, age),
      );
      conclude({ removed }, removed === 0 ? "Nothing to remove." : `Removed the bytes of ${removed} files.`);
    });
  },
});

export const command = defineCommand({
  subCommands: { ls, show, verify, gc },
});

async function read(pool: pg.Pool, id: string | null, owner: string | null, most: number): Promise<StoredRow[]> {
  const text = "select * from svc_private.list_storage_objects($1, $2, $3)";
  return (await pool.query<StoredRow>(text, [id, owner, most])).rows;
}

const line = ({ id, size, type, visibility, user_id, created_at, name }: StoredRow): string[] => [
  id,
  size,
  type,
  paint(visibility, visibility === "public" ? 33 : 39),
  user_id ?? "-",
  time(created_at),
  name,
];

function describe({ id, bytes_id, name, size, type, visibility, user_id, sha256, created_at }: StoredRow): string {
  const rows = {
    id,
    name,
    size: `${size} bytes`,
    type,
    visibility,
    owner: user_id ?? "-",
    sha256,
    bytes: objectKey(bytes_id ?? id),
  };
  return details(Object.entries({ ...rows, stored: `${time(created_at)} UTC` }));
}
