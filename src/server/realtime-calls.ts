/**
 * What realtime calls. Asks the `join` of a channel, as the caller, in one read-only transaction.
 * Next hop: `src/call/invoke.ts`; `src/realtime/channel-member.ts` asks again.
 */
import { randomUUID } from "node:crypto";
import type pg from "pg";
import type { Logger } from "pino";
import { sessionsOfUsers } from "../auth/sessions/find-user.ts";
import { invoke, type Runtime } from "../call/invoke.ts";
import type { LoadedApp } from "../contract/loaded-app.ts";
import { SvcError } from "../kit/svc-error.ts";
import { runStatement } from "../postgres/run-statement.ts";
import { callerTeams } from "../realtime/caller-teams.ts";
import { readMessages, recallValues, type Stored, storeMessages } from "../realtime/channel-store.ts";
import type { AskJoin } from "../realtime/channels.ts";
import type { FollowedReads, Seen } from "../realtime/followed-reads.ts";
import { publicRerun } from "./rerun.ts";

/** Sends what a process says in channels (`sql/realtime/broadcast.sql`). A failure is logged once: presence is sent by itself. */
function broadcasts(system: pg.Pool, log: Logger): (messages: string) => Promise<void> {
  let isFailing = false;
  return async (messages) => {
    const values = [messages];
    try {
      await runStatement(system, { name: "svc_broadcast", text: "select svc_private.broadcast($1)", values });
    } catch (err) {
      if (!isFailing) log.warn({ err }, "channels cannot send: messages fail, and who comes and goes is not seen");
      isFailing = true;
      throw err;
    }
    if (isFailing) log.info("channels send again");
    isFailing = false;
  };
}

/** The same of durable channels. */
async function store(system: pg.Pool, messages: string): Promise<readonly number[]> {
  const [row] = await runStatement<{ refused: number[] }>(system, { ...storeMessages, values: [messages] });
  return row?.refused ?? [];
}

/** Tells Studio which channels are open here (`sql/realtime/answer_channels.sql`). */
async function answer(system: pg.Pool, question: string, report: string): Promise<void> {
  const text = "select svc_private.answer_channels($1, $2)";
  await runStatement(system, { name: "svc_answer_channels", text, values: [question, report] });
}

/** The calls that realtime makes. @param system for what is said in channels, and for users of queries that are run again */
export const realtimeCalls = (runtime: Runtime, { api, auth }: LoadedApp, system: pg.Pool) => ({
  rerun: publicRerun(runtime, api["~svc"].procedures, sessionsOfUsers(system, auth)),
  join: (reads: FollowedReads) => channelJoins(runtime, reads),
  broadcast: broadcasts(system, runtime.log),
  store: (messages: string) => store(system, messages),
  answer: (question: string, report: string) => answer(system, question, report),
});

function channelJoins(runtime: Runtime, reads: FollowedReads): AskJoin {
  const said = new Set<string>();
  return async ({ name, join, anonymous, definedAt }, input, session, address, recall) => {
    const requestId = randomUUID();
    const holder = session?.user.id ?? address;
    const caller = { session, requestId, ...(holder !== null && { holder }) };
    let seen: Seen | undefined;
    let stored: Stored | undefined;
    const isAllowed = await invoke(runtime, {
      caller,
      input,
      access: "read",
      anonymous,
      definedAt,
      run: async (call) => join({ context: call.context as never, input: call.input as never }),
      encode: (result) => result === true,
      asksBypassing: true,
      // In the snapshot of the answer: who was removed reads nothing that committed later.
      also: async (transaction, isAllowed) => {
        if (!recall || !isAllowed) return;
        stored = (await transaction.asLogin(readMessages, recallValues(recall.topic, recall))).rows[0];
      },
      watched: (now) => {
        seen = now;
      },
    }).catch((error) => {
      if (error instanceof SvcError && error.code === "INTERNAL") {
        runtime.log.error({ err: error.cause, operation: name, requestId }, "the join of a channel failed");
      }
      throw error;
    });
    if (!isAllowed || !seen) return { isAllowed: false, snapshot: null, topics: [], isComplete: true };
    const userId = session?.user.id ?? null;
    const teams = await callerTeams(runtime.requestPool, caller, reads.scopes(seen.reads));
    const { topics, isComplete } = reads.topicsOf(seen.reads, userId, teams);
    if (!isComplete && !runtime.production && !said.has(name)) {
      said.add(name);
      runtime.log.warn(
        { operation: name },
        `The join of the channel "${name}" reads what is not followed: ${everyHalfMinute}`,
      );
    }
    return { isAllowed, snapshot: seen.snapshot, topics, isComplete, stored };
  };
}

const everyHalfMinute = "it is asked again every 30 seconds. Read tables of the schema by context.db.";
