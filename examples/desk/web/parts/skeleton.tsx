/** Stands where rows will be, while they are on their way. */
export function Skeleton({ rows }: { rows: number }) {
  return (
    <div className="skeleton" role="status">
      <span className="unseen">Loading…</span>
      {Array.from({ length: rows }, (_, index) => index).map((index) => (
        <div key={index} aria-hidden="true" />
      ))}
    </div>
  );
}
