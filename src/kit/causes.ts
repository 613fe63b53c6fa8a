/** An error and its causes, outermost first: ten at most, because an error can be its own cause. */
export function causesOf(error: unknown): Error[] {
  const found: Error[] = [];
  for (let current = error; current instanceof Error && found.length < 10; current = current.cause) found.push(current);
  return found;
}
