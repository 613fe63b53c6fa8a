/** `useUpload`: the upload of one file, with its progress; it can be paused and continued. Next hop: `client.upload`. */
"use client";

import { SvcError } from "@svc/client";
import { useCallback, useEffect, useRef, useState } from "react";
import { useSvcClient } from "./client-context.ts";

export interface UploadState {
  status: "idle" | "uploading" | "paused" | "done" | "failed";
  /** Id of the upload, and later of the stored file; null until the service has created the upload. */
  id: string | null;
  /** From 0 to 1. */
  progress: number;
  /** Why it failed. `resume` tries again. */
  error: Error | null;
}

export interface UseUploadOptions {
  /** (Default: "private") */
  visibility?: "private" | "public" | undefined;
  /** Called when the file is stored. A promise is awaited; if it rejects, the upload fails with its reason. */
  onDone?: ((id: string, file: File) => unknown) | undefined;
}

export interface UseUploadResult extends UploadState {
  /** Starts uploading a file; a running upload is cancelled. */
  start(file: File): void;
  /** Stops sending. The service keeps the received bytes for a day. */
  pause(): void;
  /** Continues after `pause`, or after a failure; begins again where the service no longer has the upload. */
  resume(): void;
  /** Cancels the upload, also at the service. A finished one stays. */
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
  useEffect(() => {
    latest.current = options;
  });
  /** The running or paused upload. */
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
        const { visibility } = latest.current;
        const sent = client.upload(file, {
          ...(visibility && { visibility }),
          ...(known !== null && { id: known }),
          signal: sending.signal,
          onStart: (id) => {
            mine.id = id;
            show({ id });
          },
          onProgress: ({ sent, size }) => show({ progress: size === 0 ? 1 : sent / size }),
        });
        const { id } = await sent.catch((error) => {
          // It has expired, or the service has lost its bytes: `resume` begins again.
          if (error instanceof SvcError && error.code === "NOT_FOUND") mine.id = null;
          throw error;
        });
        // The one of the last render: it knows state that was set beside `start`.
        await latest.current.onDone?.(id, file);
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
    // If the service cannot be reached now, it removes the upload when it expires.
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
