/** The files of a task: thumbnails that open them, and one more that is uploaded in parts. */
import { useMutation, useQuery } from "@svc/react";
import { baseUrl } from "../client.ts";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Problem } from "../parts/problem.tsx";
import { api } from "../svc/api.ts";
import { NewAttachment } from "./new-attachment.tsx";

export function Attachments({ taskId, title }: { taskId: number; title: string }) {
  const list = useQuery(api.attachments.list, { taskId }, { placeholderData: (before) => before });
  const remove = useMutation(api.attachments.remove);
  const error = list.error ?? remove.error;
  return (
    <div className="attachments">
      {error && <Problem error={error} retry={() => list.refetch()} />}
      {!!list.data?.length && (
        <ul aria-label={`Files of ${title}`}>
          {list.data.map(({ id, name, url, thumbnail }) => (
            <li key={id}>
              <a href={baseUrl + url} target="_blank" rel="noreferrer">
                {thumbnail ? (
                  <img src={baseUrl + thumbnail} alt="" width="64" height="64" loading="lazy" />
                ) : (
                  <span className="no-picture" aria-hidden="true">
                    {name.split(".").at(-1)?.slice(0, 4)}
                  </span>
                )}
                <span id={`file-${id}`}>{name}</span>
              </a>
              <ConfirmButton
                label="Remove"
                question="Remove?"
                describedBy={`file-${id}`}
                disabled={remove.isPending}
                onConfirm={() => remove.mutate({ id })}
              />
            </li>
          ))}
        </ul>
      )}
      <NewAttachment taskId={taskId} title={title} />
    </div>
  );
}
