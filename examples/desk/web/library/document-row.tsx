/** One document of the library: open the file it came from, or remove both. */
import type { OutputOf } from "@svc/client";
import { useMutation } from "@svc/react";
import { baseUrl } from "../client.ts";
import { useAnnounce } from "../parts/announcer.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { api } from "../svc/api.ts";

type Document = OutputOf<typeof api.library.list>[number];

export function DocumentRow({ document: { id, title, storageId, chunks } }: { document: Document }) {
  const announce = useAnnounce();
  const remove = useMutation(api.library.remove, {
    onSuccess: () => announce(`Removed “${title}”.`),
    onError: announce,
  });
  const open = useMutation(api.library.open, {
    onSuccess: ({ url }) => location.assign(new URL(url, baseUrl || location.href)),
    onError: announce,
  });
  const titleId = `document-${id}`;
  return (
    <li className="document">
      <span id={titleId}>{title}</span>
      <small className="soft">{chunks === 1 ? "1 passage" : `${chunks} passages`}</small>
      <span className="actions">
        {storageId && (
          <button type="button" className="quiet" aria-describedby={titleId} onClick={() => open.mutate({ storageId })}>
            Download
          </button>
        )}
        <ConfirmButton
          label="Remove"
          question="Really remove it?"
          describedBy={titleId}
          onConfirm={() => remove.mutate({ id })}
        />
      </span>
    </li>
  );
}
