/**
 * Calls internal procedures, for `ctx.scheduler` and crons.
 *
 * Retries: 10 attempts over about 3½ hours (sql/jobs/add_procedure_job.sql). None when `.input()` refuses the arguments
 * of a job that is older than a release takes. A worker without the procedure leaves the job to workers of another release.
 * Idempotency: the handler's writes through `ctx.db`, the jobs that it schedules and the end of the job are one
 * transaction, so they happen once. Other effects (a mail, another service) happen at least once.
 * Next hop: `src/call/invoke.ts`.
 */
import { z } from "zod";
import { InputRefused, runInternal } from "../../src/call/run-internal.ts";
import type { Caller } from "../../src/contract/caller.ts";
import { defineTask, LeftToOthers, type RunningJob, type TaskServices } from "../task.ts";

const payload = z.object({
  procedure: z.string(),
  args: z.unknown().optional(),
  requestId: z.string().nullish(),
  caller: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("user"), userId: z.string() }),
    z.object({ kind: z.literal("anonymous") }),
    z.object({ kind: z.literal("system") }),
  ]),
});

export const procedure = defineTask({
  kind: "procedure",
  payload,
  async run({ procedure: name, args, requestId, caller: who }, job, services) {
    const found = services.app.api["~svc"].procedures.get(name);
    if (found?.kind !== "internal") {
      const message = `There is no internal procedure "${name}" in this version of the application.`;
      throw (await isOthers(name, job, services)) ? new LeftToOthers(message) : new Error(message);
    }
    const caller = await callerOf(who, job, services);
    if (!caller) return job.log.info({ procedure: name }, "dropped: the user who scheduled this is gone");
    await runInternal(
      { ...services.runtime, log: job.log },
      found,
      args ?? undefined, // nothing was passed
      { ...caller, requestId: requestId ?? `job:${job.id}` },
      job.finish(),
    ).catch(async (error) => {
      // The arguments were valid where the job was scheduled. A recent job may come from newer code, whose workers
      // accept them.
      if (error instanceof InputRefused && !job.isYoung) await job.giveUp();
      throw error;
    });
  },
});

/** Whether a living worker of another release knows the procedure, or one that has not begun yet may know it. */
async function isOthers(name: string, { isYoung }: RunningJob, { runtime }: TaskServices): Promise<boolean> {
  if (isYoung) return true;
  const text = "select svc_private.is_held_by_worker($1) as held";
  return (await runtime.systemPool.query(text, [`procedure ${name}`])).rows[0].held;
}

/** @returns null when the user was deleted: the user's jobs are dropped */
async function callerOf(
  who: z.infer<typeof payload>["caller"],
  { id, user }: RunningJob,
  { sessionOf }: TaskServices,
): Promise<Omit<Caller, "requestId"> | null> {
  if (who.kind === "system") return { session: null, system: true };
  if (who.kind === "anonymous") return { session: null };
  const session = await sessionOf(who.userId, `job:${id}`, user);
  return session && { session, job: true };
}
