/**
 * Asks SQL which stored objects may be sent. Requests that arrive together are asked about together: a statement for each
 * would cost several times what sending a small picture does. Nothing is remembered: every answer was read after its
 * request had arrived.
 * Next hop: `sql/storage/find_storage_objects.sql`.
 */
import type pg from "pg";
import { ask } from "./ask.ts";
import type { StorageObject } from "./storage.ts";

/** What is sent of an object: also its bytes' SHA-256, in hex. */
export interface FoundObject extends StorageObject {
  sha256: string;
}

/** Statements under way at once; whoever comes meanwhile goes with the next. */
const maxStatements = 2;

/** Requests that must wait before a second statement begins beside the first: for fewer it costs more than their wait. */
const worthAnother = 8;

/** In milliseconds. Behind a statement that takes longer, on a connection that has died for example, nobody waits. */
const patience = 20;

/** Requests in one statement. */
const maxTogether = 500;

interface Question {
  id: string;
  granted: boolean;
  answer: Promise<FoundObject | null>;
  resolve(found: FoundObject | null): void;
  reject(error: unknown): void;
}

export class ObjectFinder {
  readonly #pool: pg.Pool;
  /** Not yet asked, by what is asked. */
  readonly #waiting = new Map<string, Question>();
  /** Requests, of which several may ask the same. */
  #requests = 0;
  #running = 0;
  /** When the last statement began. */
  #began = 0;
  #scheduled = false;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /**
   * @param id      a UUID
   * @param granted whether the request has a verified grant for it
   * @returns null when it does not exist, or is private and there is no grant
   * @throws SvcError through the SQLSTATE map
   */
  find(id: string, granted: boolean): Promise<FoundObject | null> {
    const key = granted ? `${id}+` : id;
    let question = this.#waiting.get(key);
    if (!question) {
      const { promise, resolve, reject } = Promise.withResolvers<FoundObject | null>();
      question = { id, granted, answer: promise, resolve, reject };
      this.#waiting.set(key, question);
    }
    this.#requests++;
    this.#schedule();
    return question.answer;
  }

  /** When the requests that have arrived by now are read. */
  #schedule(): void {
    if (this.#scheduled || this.#running >= maxStatements) return;
    const isSlow = performance.now() - this.#began > patience;
    if (this.#running > 0 && this.#requests < worthAnother && !isSlow) return;
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
      for (const [index, question] of questions.entries()) question.resolve(found.get(index + 1) ?? null);
    } catch (error) {
      for (const { reject } of questions) reject(error);
    }
  }

  async #read(questions: Question[]): Promise<Map<number, FoundObject>> {
    // As JSON: the driver reads one column faster than seven.
    const text = "select coalesce(json_agg(it), '[]') as found from svc_private.find_storage_objects($1, $2) as it";
    const values = [questions.map(({ id }) => id), questions.map(({ granted }) => granted)];
    const [row] = await ask<{ found: (FoundObject & { at: number })[] }>(this.#pool, {
      name: "svc_find_storage_objects",
      text,
      values,
    });
    return new Map(row?.found.map(({ at, ...object }) => [at, object]));
  }
}
