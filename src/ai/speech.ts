/**
 * `ai.speech`: recordings are stored objects. A transcription is a job, because it takes longer than a request may.
 * Next hop: `workers/tasks/transcribe.ts`, `sql/ai/start_transcription.sql`.
 */
import type { StorageObject } from "../contract/storage.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isUuid } from "../kit/uuid.ts";
import { type AiCall, able, currentAiCall } from "./call.ts";
import { modelOf, paid, signalFor, tokensOf } from "./paid.ts";

interface Transcription {
  id: string;
  status: "pending" | "completed" | "failed";
  /** Set when completed. */
  text: string | null;
  /** The reason of a failure. */
  error: string | null;
  model: string;
}

export interface Speech {
  /**
   * Enqueues the transcription of a stored recording; the job exists when the call commits.
   *
   * @throws SvcError NOT_FOUND for a recording that does not exist or that the caller may not read
   */
  transcribe(options: { storageId: string; model?: string }): Promise<Transcription>;
  /** State of one of the caller's transcriptions. @throws SvcError NOT_FOUND */
  transcription(id: string): Promise<Transcription>;
  /**
   * Speaks a text; the audio becomes a private stored object of the caller.
   *
   * @param options `input` of at most 4096 characters
   */
  synthesize(options: {
    input: string;
    model?: string;
    voice?: string;
    signal?: AbortSignal;
  }): Promise<StorageObject & { creditsCharged: number; model: string }>;
}

export const speech: Speech = {
  async transcribe({ storageId, model: given }) {
    const call = currentAiCall();
    const model = modelOf(given, call.services.config.transcriptionModel);
    able(call, model, "transcribe");
    const { id: recording } = await call.storage.getMeta(storageId);
    const statement = { name: "svc_start_transcription", text: "select svc.start_transcription($1, $2) as id" };
    const { rows } = await call.transaction.asLogin(statement, [recording, model]);
    return find(call, rows[0].id);
  },

  transcription: (id) => find(currentAiCall(), id),

  async synthesize({ input, model: given, voice, signal }) {
    const call = currentAiCall();
    const model = modelOf(given, call.services.config.speechModel);
    const synthesize = able(call, model, "synthesize");
    if (typeof input !== "string" || input.trim() === "" || input.length > 4096) {
      throw new SvcError("BAD_REQUEST", "input must be a text of 1 to 4096 characters.");
    }
    const usage = { inputTokens: tokensOf(input), outputTokens: 0 };
    return paid(call, { operation: "speech.synthesize", model, estimate: usage }, async (reservation, over) => {
      const { audio, mediaType } = await synthesize(
        model,
        input,
        voice,
        signalFor(call, signal, over),
        call.userId ?? "",
      );
      const name = `speech.${mediaType === "audio/wav" ? "wav" : "mp3"}`;
      const id = await call.storage.storeBuffer(audio, name, mediaType);
      const creditsCharged = await reservation.settle(usage);
      return { id, name, size: audio.length, type: mediaType, visibility: "private", creditsCharged, model };
    });
  },
};

/** Row-level security hides other users' transcriptions. */
async function find({ transaction }: AiCall, id: string): Promise<Transcription> {
  const text = "select id, status, text, error, model from svc.get_transcription($1)";
  const rows = isUuid(id) ? (await transaction.query({ text }, [id])).rows : [];
  if (!rows[0]) throw new SvcError("NOT_FOUND", "This transcription does not exist, or it is not yours.");
  return rows[0];
}
