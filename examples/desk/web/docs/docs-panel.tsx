/**
 * "Ask the docs": what svc's own documentation says to what somebody asks or states, with the passages.
 * Next hop: `backend/docs.ts`.
 */
import { useMutation, useQuery } from "@svc/react";
import { useEffect, useState } from "react";
import { Problem } from "../parts/problem.tsx";
import { api } from "../svc/api.ts";
import { Answer } from "./answer.tsx";
import { AskForm } from "./ask-form.tsx";

export function DocsPanel() {
  const [text, setText] = useState("");
  const contents = useQuery(api.docs.contents);
  const { mutate: prepare, error } = useMutation(api.docs.prepare);
  const documents = contents.data?.documents;

  // On the first visit after an installation nothing is stored yet; the service tells when it is.
  useEffect(() => {
    if (documents === 0) prepare(undefined);
  }, [documents, prepare]);

  return (
    <section className="card" aria-labelledby="docs-title">
      <div className="bar">
        <h2 id="docs-title" tabIndex={-1}>
          Ask the docs
        </h2>
        {!!documents && <span className="count">{documents} documents</span>}
      </div>
      <p className="soft lead">
        What svc’s own documentation says, found by PostgreSQL. No language model reads or writes here.
      </p>
      {documents === 0 && !error && (
        <p className="lead" role="status">
          The documentation is being stored. One moment…
        </p>
      )}
      {error && <Problem error={error} retry={() => prepare(undefined)} />}
      {contents.error && <Problem error={contents.error} retry={contents.refetch} />}
      <AskForm
        label="A question or a statement about svc"
        placeholder="Ask, or state with a full stop: A JWT ends with its session."
        onAsk={setText}
      />
      {text !== "" && <Answer key={text} from="docs" text={text} />}
    </section>
  );
}
