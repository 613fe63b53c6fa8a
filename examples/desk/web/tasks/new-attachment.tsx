/** Chooses a file for a task and shows it on its way: how far it is, and what can be done about it. */
import { useMutation, useUpload } from "@svc/react";
import type { ChangeEvent } from "react";
import { Problem } from "../parts/problem.tsx";
import { api } from "../svc/api.ts";

export function NewAttachment({ taskId, title }: { taskId: number; title: string }) {
  const add = useMutation(api.attachments.add);
  const upload = useUpload({ onDone: (id) => add.mutateAsync({ taskId, id }) });
  const { status, progress, error } = upload;
  const isUnderWay = status === "uploading" || status === "paused";
  const percent = Math.floor(progress * 100);

  const choose = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    const file = currentTarget.files?.[0];
    if (file) upload.start(file);
    currentTarget.value = ""; // the same file again is a change, too
  };
  return (
    <>
      {isUnderWay ? (
        <div className="under-way">
          <progress value={progress} aria-label={`Uploading a file for ${title}`} />
          <span>{status === "paused" ? `Paused at ${percent} %` : `${percent} %`}</span>
          <button type="button" className="quiet" onClick={status === "paused" ? upload.resume : upload.pause}>
            {status === "paused" ? "Resume" : "Pause"}
          </button>
          <button type="button" className="quiet" onClick={upload.cancel}>
            Cancel
          </button>
        </div>
      ) : (
        <label className="choose-file">
          Add a file
          <input type="file" className="unseen" aria-label={`Add a file to ${title}`} onChange={choose} />
        </label>
      )}
      {error && <Problem error={error} retry={upload.resume} />}
    </>
  );
}
