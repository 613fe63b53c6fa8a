/** Writes commands, names, times and numbers as texts. */

/** A command of svc as a shell takes it. Words come from rows and addresses too, so a word is quoted unless it is plain. */
export const command = (...words: string[]): string =>
  ["npx", "svc", ...words]
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");

/** A name as SQL has it. Always in quotes: it may be a keyword. */
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const times = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
export const time = (text: string | null): string => (text ? times.format(new Date(text)) : "–");
export const number = (value: number | string): string => new Intl.NumberFormat().format(Number(value));

export const lasting = (ms: number): string =>
  ms < 1_000 ? `${number(Math.max(0, Math.round(ms * 10) / 10))} ms` : `${number(Math.round(ms / 100) / 10)} s`;
