/**
 * A PDF of some hundred pages that a workflow reads on the first visit. Each answer names its page and opens it.
 * Next hop: `backend/handbook.ts`.
 */
import { useMutation, useQuery } from "@svc/react";
import { useEffect, useState } from "react";
import lines from "../../backend/handbook.ts?raw";
import { baseUrl } from "../client.ts";
import { Answer } from "../docs/answer.tsx";
import { AskForm } from "../docs/ask-form.tsx";
import { Problem } from "../parts/problem.tsx";
import { api } from "../svc/api.ts";

const examples = ["Rows, jobs and messages commit or roll back together.", "How do I restore a backup?"];

export function Handbook() {
  const [text, setText] = useState(examples[0] ?? "");
  const [isRead, setRead] = useState(false);
  const contents = useQuery(api.handbook.contents, undefined, { refetchInterval: isRead ? false : 2_000 });
  const { mutate: prepare, error } = useMutation(api.handbook.prepare);
  const source = contents.data;

  useEffect(() => {
    if (source === null) prepare(undefined);
    setRead(!!source);
  }, [source, prepare]);

  return (
    <section className="card" aria-labelledby="handbook">
      <h3 id="handbook">A long PDF, and answers with their pages</h3>
      <p className="soft">
        svc’s documentation as one PDF. A workflow stored, converted and cut it; PostgreSQL finds the passages. A
        statement with a full stop is checked: does the document say so?
      </p>
      {error && <Problem error={error} retry={() => prepare(undefined)} />}
      {contents.error && <Problem error={contents.error} retry={contents.refetch} />}
      {source === null && !error && (
        <p className="lead" role="status">
          The PDF is being read. It takes some seconds…
        </p>
      )}
      {source && (
        <>
          <p className="examples">
            {examples.map((example) => (
              <button key={example} type="button" className="quiet" onClick={() => setText(example)}>
                {example}
              </button>
            ))}
          </p>
          <AskForm
            label="A question or a statement about the PDF"
            placeholder="Ask, or state something with a full stop"
            onAsk={setText}
          />
          <Answer key={text} from="handbook" text={text} file={`${baseUrl}/api/storage/${source.storageId}`} />
        </>
      )}
      <details>
        <summary>The lines of the workflow</summary>
        <pre>{lines.slice(lines.indexOf("export const read"), lines.indexOf("/** Has the PDF"))}</pre>
      </details>
    </section>
  );
}
