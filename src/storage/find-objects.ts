/**
 * Asks SQL which stored objects may be sent. Requests that arrive together share a statement: one for each would cost
 * several times as much as sending a small image. Every answer is read after its question arrived; `public-objects.ts`
 * keeps some for a second.
 * Next hop: `sql/storage/find_storage_objects.sql`.
 */
import type pg from "pg";
import type { StorageObject } from "../contract/storage.ts";
import { isConnectionLoss, sqlState } from "../postgres/errors.ts";
import { runStatement } from "../postgres/run-statement.ts";
import type { Reader } from "./read-grants.ts";

/** Data of an object for internal use. */
export interface FoundObject extends StorageObject {
  /** Names its bytes in the driver. */
  bytesId: string;
  /** Of the bytes, in hex. */
  sha256: string;
}

/** Statements under way at once; requests that arrive meanwhile go with the next. */
const maxStatements = 2;

/** Waiting requests that justify a second statement at the same time; for fewer, it costs more than their wait. */
const worthAnother = 8;

/** In milliseconds. Requests do not wait behind a slower statement, for example on a dead connection. */
const patience = 20;

/** Requests in one statement. */
const maxTogether = 500;

interface Question {
  id: string;
  reader: Reader;
  answer: Promise<FoundObject | null>;
  resolve(found: FoundObject | null): void;
  reject(error: unknown): void;
}

export class ObjectFinder {
  readonly #pool: pg.Pool;
  /** Questions not yet sent, by reader and id. */
  readonly #waiting = new Map<string, Question>();
  /** Waiting requests; several may ask the same question. */
  #requests = 0;
  #running = 0;
  /** When the last statement began. */
  #began = 0;
  #scheduled = false;
  /** Ends the wait behind a slow statement. */
  #later: NodeJS.Timeout | undefined;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /**
   * @param id     a UUID, in lower case
   * @param reader the identity for the policies: the issuer of a verified grant, or anonymous
   * @returns null when it does not exist, or the reader may not see it
   * @throws SvcError through the SQLSTATE map
   */
  find(id: string, reader: Reader): Promise<FoundObject | null> {
    const key = keyOf(reader, id);
    let question = this.#waiting.get(key);
    if (!question) {
      const { promise, resolve, reject } = Promise.withResolvers<FoundObject | null>();
      question = { id, reader, answer: promise, resolve, reject };
      this.#waiting.set(key, question);
    }
    this.#requests++;
    this.#schedule();
    return question.answer;
  }

  /** Decides when the next statement runs. */
  #schedule(): void {
    if (this.#scheduled || this.#running >= maxStatements || this.#waiting.size === 0) return;
    const left = this.#began + patience - performance.now();
    if (this.#running > 0 && this.#requests < worthAnother && left > 0) {
      this.#later ??= setTimeout(() => {
        this.#later = undefined;
        this.#schedule();
      }, left).unref();
      return;
    }
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#askAll();
    });
  }

  #askAll(): void {
    while (this.#waiting.size > 0 && this.#running < maxStatements) {
      const together = [...this.#waiting].slice(0, maxTogether);
      for (const [key] of together) this.#waiting.delete(key);
      this.#requests = 0;
      this.#began = performance.now();
      this.#running++;
      this.#ask(together.map(([, question]) => question)).finally(() => {
        this.#running--;
        if (this.#waiting.size > 0) this.#askAll();
      });
    }
  }

  async #ask(questions: Question[]): Promise<void> {
    try {
      const found = await this.#read(questions);
      for (const question of questions) question.resolve(found.get(keyOf(question.reader, question.id)) ?? null);
    } catch (error) {
      // If a policy of the application fails for one file, the other files of the statement must not fail.
      if (questions.length > 1 && isOfOne(error)) for (const question of questions) await this.#ask([question]);
      else for (const { reject } of questions) reject(error);
    }
  }

  async #read(questions: Question[]): Promise<Map<string, FoundObject>> {
    // As JSON: the driver parses one column faster than seven.
    const text = "select coalesce(json_agg(it), '[]') as found from svc_private.find_storage_objects($1, $2) as it";
    const values = [questions.map(({ id }) => id), questions.map(({ reader }) => reader)];
    const [row] = await runStatement<{ found: FoundRow[] }>(this.#pool, {
      name: "svc_find_storage_objects",
      text,
      values,
    });
    return new Map(
      row?.found.map(({ reader, bytes_id, ...object }) => [keyOf(reader, object.id), { ...object, bytesId: bytes_id }]),
    );
  }
}

type FoundRow = Omit<FoundObject, "bytesId"> & { reader: Reader; bytes_id: string };

const keyOf = (reader: Reader, id: string) => `${id} ${reader}`;

/** Whether the question itself made the statement fail, and not a lack of connections, time or memory. */
const isOfOne = (error: unknown) => !isConnectionLoss(error) && /^(2|4[24]|P0)/.test(sqlState(error) ?? "");
