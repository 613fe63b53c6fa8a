/** What a command printed with --json: a document a line. */
export const documentsIn = (text: string) =>
  text
    .trim()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
