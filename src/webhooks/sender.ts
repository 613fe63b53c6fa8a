/**
 * Sends the deliveries of webhooks. It is part of a worker and not a job: a job that waits for a receiver would keep others
 * from running. No transaction is open meanwhile. A notice of each commit wakes it; retries, and what a killed worker left,
 * are looked for every two seconds.
 * Next hop: `sql/webhooks/claim_deliveries.sql`, `post.ts`, `sql/webhooks/end_delivery.sql`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import type { EffectiveConfig } from "../config/config.ts";
import { longestMessage, storableText } from "../kit/storable-text.ts";
import { mask } from "../telemetry/mask.ts";
import { post } from "./post.ts";
import { readSecrets, signatureHeaders } from "./signature.ts";

/** Requests at a time, of one worker. */
const most = 50;
/** Characters of bodies in memory, from which on it claims nothing more. */
const mostText = 32 * 1024 * 1024;
/** In milliseconds, of a delivery: longer than the longest request (`webhooks.timeoutMs`). */
const lease = 60_000;
/** In milliseconds, between tries to store the end of a delivery. */
const storeAgainAfter = 500;
/** In milliseconds. */
const lookEvery = 2_000;

/** The command is what an operator has to run. */
const isDead = "webhook failed for good; svc webhooks show tells more, svc webhooks retry sends it again";

interface Claimed {
  id: string;
  webhook: string;
  source: string;
  endpoint: string;
  body: string;
  attempt: number;
  url: string | null;
  secret: string | null;
}

export interface SenderOptions {
  /** The system's. */
  pool: pg.Pool;
  config: EffectiveConfig["webhooks"];
  log: Logger;
  /** Whether it looks by itself. (Default: true) */
  looks?: boolean;
}

export interface Sender {
  /** Claims what is due and begins to send it. */
  wake(): void;
  /** Sends until nothing is due. */
  drain(): Promise<void>;
  /** Claims nothing more, and waits for requests in flight. */
  close(): Promise<void>;
}

export function createSender({ pool, config, log, looks = true }: SenderOptions): Sender {
  const sending = new Set<Promise<void>>();
  let text = 0;
  let claiming: Promise<void> | undefined;
  let isWoken = false;
  const closing = new AbortController();
  const { signal } = closing;
  /** Consecutive failures are logged once: of claims, and of ends. */
  let isAway = false;
  let isUnstored = false;

  async function claim(): Promise<void> {
    while (isWoken && !signal.aborted && sending.size < most && text < mostText) {
      isWoken = false;
      const claimed = "select * from svc_private.claim_deliveries($1, $2)";
      const { rows } = await pool.query<Claimed>(claimed, [most - sending.size, `${lease} milliseconds`]);
      isAway = false;
      for (const one of rows) {
        text += one.body.length;
        const sent: Promise<void> = send(one).finally(() => {
          sending.delete(sent);
          text -= one.body.length;
          wake();
        });
        sending.add(sent);
      }
    }
    isWoken = false;
  }

  function wake(): void {
    isWoken = true;
    claiming ??= claim()
      .catch((error) => {
        if (!isAway) log.warn({ reason: String(error) }, "no delivery of a webhook could be claimed; trying again");
        isAway = true;
      })
      .finally(() => {
        claiming = undefined;
        if (isWoken && !signal.aborted) wake();
      });
  }

  async function send(one: Claimed): Promise<void> {
    const began = performance.now();
    const { status, error, waitMs } = await attempt(one);
    const ms = Math.round(performance.now() - began);
    const told = { webhook: one.webhook, delivery: one.id, endpoint: one.endpoint, attempt: one.attempt, status, ms };
    // Until it is stored, its endpoint gets nothing: so it is tried again, as after a restart of the database.
    for (;;) {
      try {
        const text = "select svc_private.end_delivery($1, $2, $3, $4, $5) as state";
        const { rows } = await pool.query<{ state: string | null }>(text, [one.id, one.attempt, status, error, waitMs]);
        isUnstored = false;
        if (!error) log.info(told, "webhook sent");
        else if (rows[0]?.state === "dead") log.error({ ...told, reason: error }, isDead);
        else log.warn({ ...told, reason: error }, "webhook failed");
        return;
      } catch (err) {
        const isOver = signal.aborted || performance.now() - began > lease;
        if (isOver) return log.warn({ ...told, err }, "the end of a delivery could not be stored; it is sent again");
        if (!isUnstored) log.warn({ ...told, err }, "the end of a delivery could not be stored; trying again");
        isUnstored = true;
        await sleep(storeAgainAfter, undefined, { signal }).catch(() => {});
      }
    }
  }

  async function attempt(one: Claimed) {
    const { id, body } = one;
    try {
      const { url, keys, isTrusted } = one.source === "env" ? operatorsReceiver(one.endpoint) : storedReceiver(one);
      const { status, waitMs } = await post({
        url,
        headers: {
          "content-type": "application/json",
          "user-agent": "svc",
          ...signatureHeaders(keys, id, Math.floor(Date.now() / 1000), body),
        },
        body,
        timeoutMs: config.timeoutMs,
        isTrusted,
      });
      return { status, waitMs, error: status >= 200 && status < 300 ? null : `The receiver answered ${status}.` };
    } catch (error) {
      const message = error instanceof Error ? error.message || error.name : String(error);
      return { status: null, waitMs: null, error: storableText(mask(message)).slice(0, longestMessage) };
    }
  }

  function operatorsReceiver(variable: string) {
    const url = config.variables[variable];
    if (!url) throw new Error(`${variable} is not set.`);
    const keys = readSecrets(config.variables[`${variable}_SECRET`] ?? "");
    if (keys.length === 0) throw new Error(`${variable}_SECRET is not set.`);
    return { url, keys, isTrusted: true };
  }

  function storedReceiver({ url, secret }: Claimed) {
    if (!url) throw new Error("The endpoint has no URL.");
    const keys = readSecrets(secret ?? "");
    if (keys.length === 0) throw new Error("The endpoint has no secret.");
    return { url, keys, isTrusted: config.privateEndpoints };
  }

  const timer = looks ? setInterval(wake, lookEvery) : undefined;
  return {
    wake,
    async drain() {
      do {
        wake();
        await claiming;
        if (sending.size > 0) await Promise.race(sending);
      } while (sending.size > 0 || claiming);
    },
    async close() {
      closing.abort();
      clearInterval(timer);
      await claiming;
      await Promise.all(sending);
    },
  };
}
