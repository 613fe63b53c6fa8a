/**
 * Transcribes a stored recording, for `ai.speech.transcribe`.
 *
 * Retries: 5 attempts; then the transcription has failed. If the worker died in the fifth, a sixth attempt records
 * that.
 * Idempotency: the row is written once, while it is pending, and in the same statement its user is charged. If a worker
 * dies after the provider answered, the next one calls the provider again: the operator pays it twice, the user once.
 * Next hop: `src/ai/provider.ts`, `sql/ai/complete_transcription.sql`.
 */
import { z } from "zod";
import { paid, signalFor } from "../../src/ai/paid.ts";
import { storableText } from "../../src/kit/storable-text.ts";
import { SvcError } from "../../src/kit/svc-error.ts";
import { objectKey } from "../../src/storage/storage.ts";
import { defineTask } from "../task.ts";

const attempts = 5;

/** In bytes: the providers' limit. */
const maxRecording = 25 * 1024 * 1024;

/** One minute of speech is about this many tokens, and a megabyte of any format lasts at least a minute. */
const tokensPerMegabyte = 400;

export const transcribe = defineTask({
  kind: "transcribe",
  payload: z.object({ id: z.uuid() }),
  async run({ id }, job, { runtime }) {
    const { systemPool: pool, ai, storage } = runtime;
    const { rows } = await pool.query("select * from svc_private.find_pending_transcription($1)", [id]);
    const found = rows[0];
    if (!found) return; // done before, or deleted
    const fail = (error: string) =>
      pool.query("select svc_private.end_transcription($1, 'failed', null, $2, null)", [id, error]);
    const wentWrong = "Something went wrong on our side.";
    if (job.attempt > attempts) return void (await fail(wentWrong));
    const { user_id: userId, bytes_id: bytesId, model, size, type } = found;
    const inputTokens = Math.ceil((size / 2 ** 20) * tokensPerMegabyte);
    const request = { operation: "speech.transcribe", model, estimate: { inputTokens, outputTokens: 0 } };
    try {
      if (size > maxRecording) throw new SvcError("PAYLOAD_TOO_LARGE", "The recording is larger than 25 MiB.");
      await paid({ services: ai, userId }, request, async (reservation, over) => {
        const listen = ai.providerOf(model).transcribe;
        if (!listen) throw new SvcError("AI_NOT_CONFIGURED");
        const bytes = await storage.driver.readWhole(objectKey(bytesId));
        if (!bytes) throw new SvcError("NOT_FOUND", "The recording is gone.");
        const text = await listen(model, bytes, type, signalFor({ services: ai }, job.signal, over), userId ?? "");
        const complete = "select svc_private.complete_transcription($1, $2, $3, $4)";
        // A text that cannot be stored would be paid for at each attempt.
        await pool.query(complete, [id, storableText(text), reservation.id, inputTokens]);
      });
    } catch (error) {
      // A missing provider is missing for all attempts.
      const isFinal = error instanceof SvcError && (error.status < 500 || error.code === "AI_NOT_CONFIGURED");
      if (!isFinal && job.attempt < attempts) throw error;
      await fail(error instanceof SvcError ? storableText(error.message) : wentWrong);
      job.log.warn({ err: error, transcription: id }, "transcription failed");
    }
  },
});
