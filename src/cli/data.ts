/**
 * `svc data export|import`: rows of a resource as a file, read and written as a user: the policies decide, as in a call.
 * Next hop: `src/transfer/export-rows.ts`, `src/transfer/import-batch.ts`.
 */
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { appendFile, rm, stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { loadApp } from "../app/load-app.ts";
import type { CrudDefinition } from "../contract/crud.ts";
import type { LoadedApp } from "../contract/loaded-app.ts";
import { checkKey, type ImportArgs } from "../crud/crud-import.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { SvcError } from "../kit/svc-error.ts";
import { requestDatabases } from "../postgres/database.ts";
import { identityOfUser } from "../postgres/identity.ts";
import { createPool } from "../postgres/pools.ts";
import { RequestTransaction } from "../postgres/transaction.ts";
import { createLog } from "../telemetry/log.ts";
import { exportRows, type Format, formats, isFormat } from "../transfer/export-rows.ts";
import {
  type ImportSource,
  importBatch,
  openFile,
  type Refused,
  refusedHeader,
  refusedLines,
} from "../transfer/import-batch.ts";
import { type FilePlace, readRecords } from "../transfer/records.ts";
import { readConfig, say, withDatabase } from "./command.ts";
import { defineCommand, type Values } from "./define.ts";
import { commandPool, findUser } from "./inspect.ts";
import { choice, json, number, text, word } from "./options.ts";
import { conclude, counter } from "./output.ts";
import { stopSignal } from "./signal.ts";

const common = {
  resource: word("The prefix of a createCrud, such as expenses."),
  as: text("Only as this user: an id or an e-mail address. Required.", { required: true }),
  format: text("csv or ndjson. (Default: by the file's name)"),
};

const exportCommand = defineCommand({
  description: "Write every row that a user may see to a file.",
  args: {
    ...common,
    output: text("The file. (Default: standard output, as CSV)"),
    filters: json('As in a list, in JSON: \'{"status":"open"}\'. (Default: every row)', '{"status":"open"}'),
  },
  run: (args) =>
    withUser(args, async ({ crud, transaction }) => {
      const format = formatOf(args.format, args.output ?? "rows.csv");
      if (args.output !== undefined && existsSync(args.output)) {
        throw new DefinitionError(`${args.output} exists already.`, { hint: "Remove it, or name another file." });
      }
      const filters = args.filters === undefined ? {} : { filters: args.filters };
      const reading = transaction("read");
      const stop =
        args.output === undefined ? undefined : stopSignal(new DefinitionError("Interrupted. No file was written."));
      const report = counter();
      let bytes = 0;
      async function* counted() {
        for await (const piece of exportRows(crud, reading, { format, args: filters, spreadsheet: false })) {
          bytes += Buffer.byteLength(piece);
          report(() => `${megabytes(bytes)} written`);
          yield piece;
        }
      }
      try {
        const rows = Readable.from(counted());
        if (args.output === undefined) await pipeline(rows, process.stdout, { end: false });
        else await pipeline(rows, createWriteStream(args.output, { flags: "wx" }), { signal: stop });
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        // Half an export looks like a whole one. With EEXIST the file is somebody else's.
        if (args.output !== undefined && code !== "EEXIST") await rm(args.output, { force: true });
        stop?.throwIfAborted();
        const isClosed = args.output === undefined && code === "EPIPE";
        if (!isClosed) throw reading.explain(error); // otherwise the reader has what it wanted
      } finally {
        await reading.rollback(); // it has only read
      }
      if (args.output !== undefined) {
        conclude({ file: args.output, bytes }, `Wrote ${megabytes(bytes)} to ${args.output}.`);
      }
    }),
});

const importArguments = {
  ...common,
  file: word("A CSV or NDJSON file."),
  mode: choice(["insert", "upsert"], "insert or upsert.", { default: "insert" }),
  by: text("Only with --mode upsert: the key's columns, joined by commas."),
  "from-line": number("The line at which a stopped import continues.", { default: 1 }),
  refused: text("A file for the refused rows. (Default: <file>.refused.csv)"),
};

const importCommand = defineCommand({
  description: "Write the rows of a file as a user. Rows that are refused are listed.",
  args: importArguments,
  run: (args) => withUser(args, (user) => importFile(user, args)),
});

export const command = defineCommand({ subCommands: { export: exportCommand, import: importCommand } });

async function importFile(
  { app, crud, transaction, note }: AsUser,
  options: Values<typeof importArguments>,
): Promise<void> {
  const { file, mode, "from-line": fromLine } = options;
  const format = formatOf(options.format, file);
  const by = options.by?.split(",");
  checkKey(crud, mode, by);
  const { size } = await stat(file).catch(() => {
    throw new DefinitionError(`There is no file ${file}.`);
  });
  const files: ImportSource = {
    requireOwned: async () => ({ size }),
    read: async (_id, from = 0) => createReadStream(file, { start: from }),
  };
  const work: ImportArgs = { resource: crud.prefix, storageId: file, format, mode, ...(by && { by }) };
  const opened = await openFile(crud, files, work);
  let place = await skipTo(fromLine, files, opened.place, format);
  const list = options.refused ?? `${file}.refused.csv`;
  if (existsSync(list) && fromLine === 1) {
    throw new DefinitionError(`${list} exists already.`, { hint: "Remove it, or name another file with --refused." });
  }

  await note(file);
  const createDatabase = requestDatabases(app.schema, true);
  const report = counter();
  let [written, refused] = [0, 0];
  const stop = stopSignal();
  const sayPlace = () => say(`Rows before line ${place.line} are done: continue with --from-line ${place.line}.`);
  while (place.offset < size) {
    if (stop.aborted) {
      sayPlace();
      process.exitCode = 1;
      return;
    }
    const writing = transaction("write");
    const batch = await importBatch(crud, { files, db: () => createDatabase(writing) }, work, opened, place)
      .then(async (done) => {
        // Before the rows are kept: those that are refused are told nowhere else.
        if (done.refused.length > 0) await noteRefused(list, done.refused);
        await writing.commit();
        return done;
      })
      .catch(async (error) => {
        await writing.rollback();
        sayPlace();
        throw writing.explain(error);
      });
    place = batch.place;
    written += batch.written;
    refused += batch.refused.length;
    report(() => `${Math.floor((place.offset / size) * 100)} %: ${written} rows written, up to line ${place.line - 1}`);
  }
  const result = { written, refused, refusedFile: refused > 0 ? list : null };
  conclude(
    result,
    `Wrote ${written} rows.`,
    ...(refused > 0 ? [`Refused ${refused} rows: ${list} has their lines and reasons.`] : []),
  );
  if (refused > 0) process.exitCode = 1;
}

/** @throws DefinitionError for a line that is not the first of a record */
async function skipTo(line: number, files: ImportSource, place: FilePlace, format: Format): Promise<FilePlace> {
  const at = { ...place };
  if (line <= at.line) return at;
  await readRecords(await files.read("", at.offset), at, format === "csv", () => at.line < line);
  if (at.line === line) return at;
  throw new DefinitionError(`No row begins at line ${line}; line ${at.line} is the next.`);
}

/** @throws DefinitionError when the list cannot be written */
async function noteRefused(list: string, refused: Refused[]): Promise<void> {
  const header = existsSync(list) ? "" : refusedHeader;
  await appendFile(list, header + refusedLines(refused)).catch((error) => {
    throw new DefinitionError(`${list} cannot be written: ${error.message}.`, {
      hint: "Name another file with --refused.",
    });
  });
}

interface AsUser {
  app: LoadedApp;
  crud: CrudDefinition;
  /** A transaction with the user's identity. */
  transaction(access: "read" | "write"): RequestTransaction;
  /** Writes the line of an import in svc.operator_acts. */
  note(file: string): Promise<void>;
}

/** Opens the database while `work` runs as the user. */
async function withUser(
  { cwd, as, resource }: { cwd: string; as: string; resource: string },
  work: (user: AsUser) => Promise<void>,
): Promise<void> {
  const config = await readConfig(cwd);
  const app = await loadApp(config);
  const crud = app.api["~svc"].crud.find(({ prefix }) => prefix === resource);
  if (!crud) {
    const known = app.api["~svc"].crud.map(({ prefix }) => prefix).join(", ") || "none: no createCrud";
    throw new DefinitionError(`There is no resource ${resource}.`, { hint: `There are: ${known}.` });
  }
  await withDatabase(config, { logins: "serving" }, async ({ urls }) => {
    const system = commandPool(urls.system, "svc data");
    // A person waits for it, and no other call needs its connection.
    const limits = { ...config.limits, statementTimeoutMs: 0, generatedTimeoutMs: 0, idleInTransactionMs: 0 };
    const request = createPool("request", urls.request, { ...config.pool, ...limits }, createLog("silent"));
    try {
      const userId = await findUser(system, as);
      await work({
        app,
        crud,
        transaction: (access) => new RequestTransaction(request.pool, identityOfUser(userId), access, limits),
        async note(file) {
          await system.query("select svc_private.act_import_rows($1, $2, $3)", [crud.prefix, userId, basename(file)]);
        },
      });
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      const issues = error.issues?.map(({ path, message }) => `${path.join(".")} ${message}`).join("; ");
      throw new DefinitionError(issues ?? error.message, { hint: error.hint ?? "" });
    } finally {
      await Promise.all([system.end(), request.close()]);
    }
  });
}

function formatOf(given: string | undefined, file: string): Format {
  const format = given ?? extname(file).slice(1);
  if (isFormat(format)) return format;
  throw new DefinitionError(
    given === undefined ? `The format of ${file} is not clear from its name.` : `--format ${given} is unknown.`,
    { hint: `Pass --format ${formats.join(" or --format ")}.` },
  );
}

const megabytes = (bytes: number) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
