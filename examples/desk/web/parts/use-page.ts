/** Which page of a list is shown; when others, or a filter, have left fewer pages than that, the last one. */
import { useEffect, useState } from "react";

/** @returns the page from 1, a function that turns to another, and one that is told the total of each answer */
export function usePage(limit: number, total: number | undefined) {
  const [page, turn] = useState(1);
  const last = total === undefined ? page : Math.max(1, Math.ceil(total / limit));
  useEffect(() => {
    if (page > last) turn(last);
  }, [page, last]);
  return [page, turn] as const;
}
