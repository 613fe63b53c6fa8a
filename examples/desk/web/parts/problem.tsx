/** What went wrong, as the service words it, with the way out when there is one. */
import { SvcError } from "@svc/client";

/** What is wrong, which part of the input, and what to do, as sentences. */
export function linesOf(error: Error): string[] {
  if (!(error instanceof SvcError)) {
    console.error(error); // a mistake of this page's own: its words are for us
    return ["Something went wrong on this page."];
  }
  // An issue is a sentence of its own, or what follows the field's name: "must be a number".
  const issues = error.issues.map(({ path, message }) => (/^[A-Z]/.test(message) ? message : `${path[0]} ${message}`));
  return [error.message, ...issues, ...(error.hint ? [error.hint] : [])];
}

export function Problem({ error, retry }: { error: Error; retry?: () => void }) {
  const [first, ...others] = linesOf(error);
  return (
    <div role="alert" className="problem">
      <strong>{first}</strong>
      {others.map((line) => (
        <span key={line}>{line}</span>
      ))}
      {retry && (
        <button type="button" className="quiet" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
