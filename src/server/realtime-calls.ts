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
import { kindOf } from "../kit/v.ts";
import { runStatement } from "../postgres/run-statement.ts";
import { callerTeams } from "../realtime/caller-teams.ts";
import { readMessages, recallValues, type Stored, storeMessages } from "../realtime/channel-store.ts";
import type { AskJoin } from "../realtime/channels.ts";
import type { FollowedReads, Seen } from "../realtime/followed-reads.ts";
import { publicRerun } from "./rerun.ts";

/**
 * Sends what a process says in channels, by a statement. A failure is logged once: presence is sent by itself.
 *
 * @param which of the channels @param fails what fails without it
 * @returns a function that returns the places of messages that were not stored
 */
function sending(
  { system, log }: { system: pg.Pool; log: Logger },
  which: string,
  fails: string,
  statement: { name: string; text: string },
): (messages: string) => Promise<readonly number[]> {
  let isFailing = false;
  return async (messages) => {
    try {
      const [row] = await runStatement<{ refused?: number[] }>(system, { ...statement, values: [messages] });
      if (isFailing) log.info(`${which} send again`);
      isFailing = false;
      return row?.refused ?? [];
    } catch (err) {
      if (!isFailing) log.warn({ err }, `${which} cannot send: ${fails}`);
      isFailing = true;
      throw err;
    }
  };
}

/** `sql/realtime/broadcast.sql` */
const broadcast = { name: "svc_broadcast", text: "select svc_private.broadcast($1)" };

/** Tells Studio which channels are open here (`sql/realtime/answer_channels.sql`). */
async function answer(system: pg.Pool, question: string, report: string): Promise<void> {
  const text = "select svc_private.answer_channels($1, $2)";
  await runStatement(system, { name: "svc_answer_channels", text, values: [question, report] });
}

/** The calls that realtime makes. @param system for what is said in channels, and for users of queries that are run again */
export const realtimeCalls = (runtime: Runtime, { api, auth }: LoadedApp, system: pg.Pool) => ({
  rerun: publicRerun(runtime, api["~svc"].procedures, sessionsOfUsers(system, auth)),
  join: (reads: FollowedReads) => channelJoins(runtime, reads),
  broadcast: sending(
    { system, log: runtime.log },
    "channels",
    "messages fail, and who comes and goes is not seen",
    broadcast,
  ),
  store: sending({ system, log: runtime.log }, "durable channels", "messages fail", storeMessages),
  answer: (question: string, report: string) => answer(system, question, report),
});

function channelJoins(runtime: Runtime, reads: FollowedReads): AskJoin {
  const said = new Set<string>();
  const warn = (name: string, what: string) => {
    if (said.has(name + what)) return;
    said.add(name + what);
    runtime.log.warn({ operation: name }, `The join of the channel "${name}" ${what}`);
  };
  return async ({ name, join, anonymous, definedAt }, input, session, network, recall) => {
    const requestId = randomUUID();
    const caller = { session, requestId, holder: session?.user.id ?? network };
    let seen: Seen | undefined;
    let stored: Stored | undefined;
    const isAllowed = await invoke(runtime, {
      caller,
      input,
      access: "read",
      anonymous,
      definedAt,
      run: async (call) => join({ context: call.context as never, input: call.input as never }),
      encode(result) {
        if (typeof result !== "boolean") warn(name, `returned ${kindOf(result)}, and true alone admits a caller`);
        return result === true;
      },
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
    if (!isComplete && !runtime.production) warn(name, `reads what is not followed: ${everyHalfMinute}`);
    return { isAllowed, snapshot: seen.snapshot, topics, isComplete, stored };
  };
}

const everyHalfMinute = "it is asked again every 30 seconds. Read tables of the schema by context.db.";
