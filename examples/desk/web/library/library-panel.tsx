/**
 * "Library": a person's own documents. They are dropped, read by the service while its progress is shown, and asked about.
 * Next hop: `backend/library.ts`.
 */
import { useMutation, useQuery } from "@svc/react";
import { useEffect, useState } from "react";
import { Answer } from "../docs/answer.tsx";
import { AskForm } from "../docs/ask-form.tsx";
import { useAnnounce } from "../parts/announcer.tsx";
import { Problem } from "../parts/problem.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { api } from "../svc/api.ts";
import { DocumentRow } from "./document-row.tsx";
import { DropZone } from "./drop-zone.tsx";
import { Reading } from "./reading.tsx";

export function LibraryPanel() {
  const [text, setText] = useState("");
  const announce = useAnnounce();
  const documents = useQuery(api.library.list);
  const runs = useQuery(api.workflows.list, { name: "rag.ingest", limit: 20 });
  const add = useMutation(api.library.add, { onSuccess: () => runs.refetch(), onError: announce });
  const { refetch } = documents;

  const items = runs.data?.items ?? [];
  const done = items.filter(({ status }) => status === "completed").map(({ id }) => id);
  const lastDone = done.join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a run that has ended is why the list is asked for again
  useEffect(() => {
    refetch();
  }, [lastDone, refetch]);

  // One after the other: each is an upload of its own.
  async function addAll(files: File[]) {
    for (const file of files) await add.mutateAsync({ file }).catch(() => {});
  }

  return (
    <section className="card" aria-labelledby="library-title">
      <div className="bar">
        <h2 id="library-title" tabIndex={-1}>
          Library
        </h2>
        <span className="count">Yours alone</span>
      </div>
      <DropZone isBusy={add.isPending} onFiles={addAll} />
      <Reading runs={items.filter(({ status }) => status !== "completed" && status !== "cancelled")} />
      {documents.isPending && <Skeleton rows={2} />}
      {documents.error && <Problem error={documents.error} retry={refetch} />}
      {!!documents.data?.length && (
        <>
          <AskForm
            label="A question or a statement about your documents"
            placeholder="Ask, or state something that they should say"
            onAsk={setText}
          />
          {text !== "" && <Answer key={`${text} ${lastDone}`} from="library" text={text} />}
          <h3 className="above-rows" id="library-documents">
            Documents
          </h3>
          <ul className="rows" aria-labelledby="library-documents">
            {documents.data.map((document) => (
              <DocumentRow key={document.id} document={document} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
