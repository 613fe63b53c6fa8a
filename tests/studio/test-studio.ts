/** Studio under test: its real listener on a free port, and calls with any headers. */
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { Entry } from "../../src/studio/listener.ts";
import { openStudio, type Studio } from "../../src/studio/open-studio.ts";
import { Observations } from "../../src/telemetry/observations.ts";
import type { Database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

export const page = join(root, "client/studio/src");

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of many shapes
  body: any;
}

export class TestStudio {
  readonly #db: Database;
  readonly #mayAct: boolean;
  #studio: Studio | undefined;
  /** Every address that was printed, newest last. */
  readonly addresses: string[] = [];
  /** Errors that the page did not get. */
  readonly failures: unknown[] = [];
  /** What `svc …` answers. */
  readonly commands: Record<string, unknown> = {};
  /** What `svc dev` has seen of its service. */
  readonly observations = new Observations();
  /** Of coding agents; null: they are not answered. */
  agentSecret: string | null = null;
  /** For programs, such as svc mcp. */
  entry: Entry | undefined;
  #secret = "";

  constructor(db: Database, mayAct = true) {
    this.#db = db;
    this.#mayAct = mayAct;
  }

  async start(): Promise<void> {
    this.#studio = await openStudio({
      urls: { read: this.#db.url("studioRead"), act: this.#mayAct ? this.#db.url("studioAct") : null },
      page,
      command: async (...words) => this.commands[words.join(" ")],
      ...(this.#mayAct && { observations: this.observations }),
      agents: { secret: () => this.agentSecret, version: "1", cwd: root, platform: root },
      announce: (address) => this.addresses.push(address),
      admit: (entry) => {
        this.entry = entry;
      },
      failed: (error) => this.failures.push(error),
    });
    this.#secret = await this.redeem();
  }

  async stop(): Promise<void> {
    await this.#studio?.stop();
  }

  get origin(): string {
    return new URL(this.addresses[0] ?? "").origin;
  }

  /** The token of the newest address. */
  get token(): string {
    return new URL(this.addresses.at(-1) ?? "").hash.slice(1);
  }

  async redeem(): Promise<string> {
    return (await this.send("redeem", { token: this.token })).body.secret;
  }

  /** @param headers over those of the page; undefined leaves one out */
  send(name: string, body: unknown, headers: Record<string, string | undefined> = {}): Promise<Answer> {
    return this.raw(`/api/${name}`, "POST", JSON.stringify(body), {
      origin: this.origin,
      "content-type": "application/json",
      authorization: `Bearer ${this.#secret}`,
      ...headers,
    });
  }

  /** The result of a call that succeeds. */
  async ask(name: string, body: unknown) {
    const { status, body: result } = await this.send(name, body);
    if (status !== 200) throw new Error(`${name} failed with ${status}: ${JSON.stringify(result)}`);
    return result;
  }

  raw(path: string, method = "GET", body = "", headers: Record<string, string | undefined> = {}): Promise<Answer> {
    const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
    return new Promise((resolve, reject) => {
      const sent = request(
        `${this.origin}${path}`,
        { method, headers: given as Record<string, string> },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk) => {
            text += chunk;
          });
          response.once("end", () => {
            const isJson = response.headers["content-type"]?.includes("json");
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              body: isJson ? JSON.parse(text) : text,
            });
          });
        },
      );
      sent.once("error", reject);
      sent.end(body);
    });
  }
}

/** Opens Studio for a test file. Call it after `database()`. */
export function studio(db: Database, mayAct = true): TestStudio {
  const opened = new TestStudio(db, mayAct);
  beforeAll(() => opened.start());
  afterAll(() => opened.stop());
  return opened;
}
