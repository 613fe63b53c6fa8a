/**
 * `ctx.realtime`: notifies subscribers as a part of the call's transaction. Messages are sent just before COMMIT, so a
 * handler need not wait for them; if the call fails, they are rolled back with everything else.
 * Next hop: `sql/realtime/emit_message.sql`, and `store_messages.sql` for durable channels.
 */
import type { QueryConfig } from "pg";
import type { Channel, ChannelDefinition } from "../contract/channel-definition.ts";
import type { ContextRealtime } from "../contract/realtime.ts";
import { misuseError } from "../kit/misuse-error.ts";
import { didYouMean } from "../kit/nearest.ts";
import { toParts } from "../kit/rich-values.ts";
import { isAnotherCall } from "../kit/running-call.ts";
import type { SvcError } from "../kit/svc-error.ts";
import { type Access, requireWrite } from "../postgres/access.ts";
import { callHasEnded, usedElsewhere } from "../postgres/failures.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { encodeMessage, topicOf } from "./channel-codec.ts";
import { storedMessage, storeMessages } from "./channel-store.ts";
import { keyOf } from "./key.ts";

/** Whether anyone may call the query of that name. */
export type IsPublic = (name: string) => boolean;

/** The queries and channels that `ctx.realtime` knows, by name. */
interface Queries {
  isPublicQuery: IsPublic;
  takesData: IsPublic;
  queryNames: readonly string[];
  channelNames: readonly string[];
  /** Whether mistakes are only logged. */
  production: boolean;
}

/** Collects the messages of a call in its transaction. */
export class CallRealtime implements ContextRealtime {
  readonly #transaction: RequestTransaction;
  readonly #access: Access;
  readonly #queries: Queries;
  readonly #call: number;

  /** @param call the number of the call, whose code alone may send */
  constructor(transaction: RequestTransaction, access: Access, queries: Queries, call: number) {
    this.#transaction = transaction;
    this.#access = access;
    this.#queries = queries;
    this.#call = call;
  }

  invalidate(queryKey: string, args?: object): void {
    this.#say("invalidate", { invalidate: this.#keyOf("invalidate", queryKey, args) });
  }

  refresh(queryKey: string, args?: object): void {
    const key = this.#keyOf("refresh", queryKey, args);
    this.#say("refresh", this.#queries.isPublicQuery(nameOf(key)) ? { refresh: key } : { invalidate: key });
  }

  emit(queryKey: string, data: unknown): void {
    const key = this.#keyOf("emit", queryKey);
    if (!this.#queries.takesData(nameOf(key))) {
      throw this.#misuse(
        "emit",
        `"${key}" is not a query that anyone may call. Its subscribers would all see the data: ` +
          "use invalidate, and each asks for what they may see.",
      );
    }
    const { json, meta } = toParts("What is emitted", data, "Store it, and emit its id.");
    // Values that JSON does not have are encoded as in answers: watchers get a Date as a Date.
    this.#say("emit", meta.length > 0 ? { emit: key, result: { json, meta } } : { emit: key, data: json });
  }

  send(channel: Channel, input: unknown, event: string, data: unknown): void {
    const definition = this.#definitionOf("send", channel);
    const { name } = definition;
    const known = { ...definition.messages, ...definition.notices };
    const schema = Object.hasOwn(known, event) && known[event];
    if (!schema) {
      const advice = didYouMean(String(event), Object.keys(known));
      throw this.#misuse("send", `The channel "${name}" has no message "${event}". ${advice}`);
    }
    const { topic } = topicOf(definition, input);
    const body = encodeMessage(schema, data);
    if (definition.durable) this.#say("send", storedMessage(definition, topic, event, body), this.#transaction.stored);
    else this.#say("send", { channel: { topic, event, body } });
  }

  clear(channel: Channel, input: unknown): void {
    const definition = this.#definitionOf("clear", channel);
    const { name, durable } = definition;
    if (!durable) throw this.#misuse("clear", `The channel "${name}" is not durable: nothing of it is stored.`);
    this.#say(
      "clear",
      { name, topic: topicOf(definition, input).topic, clear: true, ...durable },
      this.#transaction.stored,
    );
  }

  /**
   * Sends the collected messages, unless the call was rolled back. Called once, just before COMMIT.
   *
   * @param last a statement for the end, such as that of a job. It locks rows, and the lock of a durable channel comes after all
   *   others: who has locked these rows may wait for the channel
   * @returns it, unless it has run
   */
  async flush(last?: QueryConfig): Promise<QueryConfig | undefined> {
    const transaction = this.#transaction;
    if (transaction.isOver) return last;
    for (const said of transaction.messages.splice(0)) {
      const message = notInJsonb.test(said) ? JSON.stringify({ json: said }) : said;
      await transaction.asLogin({ name: "svc_emit_message", text: "select svc.emit_message($1)" }, [message]);
    }
    const stored = transaction.stored.splice(0);
    if (stored.length === 0) return last;
    if (last) await transaction.asLogin(last);
    await transaction.asLogin(storeMessages, [`[${stored}]`]);
    return undefined;
  }

  #definitionOf(call: string, channel: Channel): ChannelDefinition {
    const definition = Object(channel)["~svc"]?.channel;
    if (!definition) throw this.#misuse(call, "The first argument is not a channel.");
    const { name } = definition;
    if (!this.#queries.channelNames.includes(name)) {
      throw this.#misuse(call, `Nobody hears the channel "${name}": register it under channels of defineApi.`);
    }
    return definition;
  }

  /** Only queries can be watched. Without this check a mistyped name would be ignored silently. */
  #keyOf(call: string, queryKey: string, args?: object): string {
    const key = keyOf(String(queryKey), args);
    const { queryNames } = this.#queries;
    if (queryNames.includes(nameOf(key))) return key;
    const advice = didYouMean(nameOf(key), queryNames);
    throw this.#misuse(call, `"${nameOf(key)}" is not a query registered in defineApi. ${advice}`);
  }

  #misuse(call: string, text: string): SvcError {
    return misuseError(`ctx.realtime.${call}`, text, this.#queries.production);
  }

  #say(call: string, message: object, all = this.#transaction.messages): void {
    if (this.#transaction.isOver) throw this.#misuse(call, callHasEnded);
    if (isAnotherCall(this.#call)) throw this.#misuse(call, usedElsewhere);
    requireWrite(this.#access, "notify subscribers");
    all.push(JSON.stringify(message));
  }
}

/** As `JSON.stringify` writes NUL and half of a character, which jsonb refuses. Such a message is sent as a text in another one. */
const notInJsonb = /\\u(0000|d[89a-f])/;

const nameOf = (key: string) => key.split("::", 1)[0] ?? key;
