/**
 * `useUpload`: one file on its way to the service, with its progress; it can be paused and go on later.
 * Next hop: `client.upload`.
 */
import { useCallback, useEffect, useRef, useState } from "react";
import { useSvcClient } from "./client-context.ts";

export interface UploadState {
  status: "idle" | "uploading" | "paused" | "done" | "failed";
  /** Of the upload, and of the stored file once it is done; null before the service knows of it. */
  id: string | null;
  /** From 0 to 1. */
  progress: number;
  /** Why it failed. `resume` tries again. */
  error: Error | null;
}

export interface UseUploadOptions {
  /** (Default: "private") */
  visibility?: "private" | "public";
  /** Told when all has arrived. A promise is waited for, and what it rejects with is the upload's error. */
  onDone?: (id: string, file: File) => unknown;
}

export interface UseUploadResult extends UploadState {
  /** Begins with a file; one that is under way is cancelled. */
  start(file: File): void;
  /** Stops sending. What has arrived waits a day. */
  pause(): void;
  /** Continues after `pause`, or after a failure. */
  resume(): void;
  /** Gives it up, also at the service. What is done stays. */
  cancel(): void;
}

const idle: UploadState = { status: "idle", id: null, progress: 0, error: null };

/**
 * Uploads a file that survives disconnects. Leaving the page pauses it.
 *
 * @example
 * const upload = useUpload({ onDone: (id) => attach.mutate({ task: 7, id }) });
 * <input type="file" onChange={(event) => event.target.files?.[0] && upload.start(event.target.files[0])} />
 */
export function useUpload(options: UseUploadOptions = {}): UseUploadResult {
  const client = useSvcClient();
  const [state, setState] = useState(idle);
  const latest = useRef(options);
  latest.current = options;
  /** What is under way, or paused. */
  const current = useRef<{ file: File; id: string | null; sending: AbortController } | null>(null);

  const run = useCallback(
    async (file: File, known: string | null) => {
      const sending = new AbortController();
      const mine = { file, id: known, sending };
      current.current = mine;
      const show = (change: Partial<UploadState>) => {
        if (!sending.signal.aborted) setState((before) => ({ ...before, ...change }));
      };
      show({ ...(known === null && idle), status: "uploading", error: null });
      try {
        const { visibility, onDone } = latest.current;
        const { id } = await client.upload(file, {
          ...(visibility && { visibility }),
          ...(known !== null && { id: known }),
          signal: sending.signal,
          onStart: (id) => {
            mine.id = id;
            show({ id });
          },
          onProgress: ({ sent, size }) => show({ progress: size === 0 ? 1 : sent / size }),
        });
        await onDone?.(id, file);
        show({ status: "done", progress: 1 });
      } catch (error) {
        show({ status: "failed", error: error as Error });
      }
    },
    [client],
  );

  const stop = useCallback(() => current.current?.sending.abort(), []);
  useEffect(() => stop, [stop]);

  const cancel = useCallback(() => {
    const { id } = current.current ?? {};
    stop();
    current.current = null;
    setState(idle);
    // What cannot be told now is swept when it expires.
    if (id) client.cancelUpload(id).catch(() => {});
  }, [client, stop]);

  const start = useCallback(
    (file: File) => {
      cancel();
      void run(file, null);
    },
    [cancel, run],
  );

  const pause = useCallback(() => {
    stop();
    setState((before) => (before.status === "uploading" ? { ...before, status: "paused" } : before));
  }, [stop]);

  const resume = useCallback(() => {
    const { file, id, sending } = current.current ?? {};
    if (file && sending) {
      sending.abort();
      void run(file, id ?? null);
    }
  }, [run]);

  return { ...state, start, pause, resume, cancel };
}
