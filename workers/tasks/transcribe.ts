/**
 * Transcribes a stored recording, for `ai.speech.transcribe`.
 *
 * Retries: 5 attempts; then the transcription has failed. If the worker died in the fifth, a sixth attempt records
 * that.
 * Idempotency: the row is written once, while it is pending, and in the same statement its user is charged. If a worker
 * dies after the provider answered, the next one calls the provider again: the operator pays it twice, the user once.
 * Next hop: `src/ai/provider.ts`.
 */
import { z } from "zod";
import { signalFor } from "../../src/ai/paid.ts";
import { storableText } from "../../src/kit/storable-text.ts";
import { SvcError } from "../../src/kit/svc-error.ts";
import { objectKey } from "../../src/storage/storage.ts";
import { defineTask } from "../task.ts";

const attempts = 5;

/** In bytes: the providers' limit. */
const maxRecording = 25 * 1024 * 1024;

/** One minute of speech is about this many tokens, and a megabyte of any format lasts at least a minute. */
const tokensPerMegabyte = 400;

/** Charges the user and stores the text, or does neither: the next attempt charges again. */
const complete = `
  select svc_private.end_transcription($1, 'completed', $2, null,
           svc_private.settle_credits($3, svc_private.price_of($4, $5, 0), $5, 0))`;

export const transcribe = defineTask({
  kind: "transcribe",
  payload: z.object({ id: z.uuid() }),
  async run({ id }, job, { runtime }) {
    const { systemPool: pool, ai, storage } = runtime;
    const { rows } = await pool.query("select * from svc_private.find_pending_transcription($1)", [id]);
    const found = rows[0];
    if (!found) return; // done before, or deleted
    const end = (status: string, text: string | null, error: string | null, credits: number | null) =>
      pool.query("select svc_private.end_transcription($1, $2, $3, $4, $5)", [id, status, text, error, credits]);
    const wentWrong = "Something went wrong on our side.";
    if (job.attempt > attempts) return void (await end("failed", null, wentWrong, null));
    const usage = { inputTokens: Math.ceil((found.size / 2 ** 20) * tokensPerMegabyte), outputTokens: 0 };
    const request = { userId: found.user_id, operation: "speech.transcribe", model: found.model, estimate: usage };
    try {
      if (found.size > maxRecording) throw new SvcError("PAYLOAD_TOO_LARGE", "The recording is larger than 25 MiB.");
      const reservation = await ai.credits.reserve(request);
      const over = new AbortController();
      try {
        const listen = ai.providerOf(found.model).transcribe;
        if (!listen) throw new SvcError("AI_NOT_CONFIGURED");
        const bytes = await storage.driver.readWhole(objectKey(found.bytes_id));
        if (!bytes) throw new SvcError("NOT_FOUND", "The recording is gone.");
        const text = await listen(
          found.model,
          bytes,
          found.type,
          signalFor({ services: ai }, job.signal, over.signal),
          found.user_id ?? "",
        );
        // A text that cannot be stored would be paid for at each attempt.
        await pool.query(complete, [id, storableText(text), reservation.id, found.model, usage.inputTokens]);
      } catch (error) {
        await reservation.release();
        throw error;
      } finally {
        over.abort();
      }
    } catch (error) {
      // A missing provider is missing for all attempts.
      const isFinal = error instanceof SvcError && (error.status < 500 || error.code === "AI_NOT_CONFIGURED");
      if (!isFinal && job.attempt < attempts) throw error;
      await end("failed", null, error instanceof SvcError ? storableText(error.message) : wentWrong, null);
      job.log.warn({ err: error, transcription: id }, "transcription failed");
    }
  },
});
