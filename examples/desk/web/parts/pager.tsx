/** The pages before and after of a list, and where one is. */
interface Props {
  /** Of what the pages are, for screen readers. */
  of: string;
  page: number;
  limit: number;
  total: number;
  onTurn: (page: number) => void;
}

export function Pager({ of, page, limit, total, onTurn }: Props) {
  const last = Math.ceil(total / limit);
  if (last <= 1) return null;
  const first = (page - 1) * limit + 1;
  // Not disabled: the focus would be lost with the button that turned to the last page.
  const turn = (to: number) => to >= 1 && to <= last && onTurn(to);
  return (
    <nav className="pager" aria-label={`Pages of ${of}`}>
      <button type="button" className="quiet" aria-disabled={page <= 1} onClick={() => turn(page - 1)}>
        Previous
      </button>
      <span role="status">
        {first}–{Math.min(first + limit - 1, total)} of {total}
      </span>
      <button type="button" className="quiet" aria-disabled={page >= last} onClick={() => turn(page + 1)}>
        Next
      </button>
    </nav>
  );
}
