/** Tables with every possible declaration of `searchable`, and what their policies should show. */
import { ownerRls, searchable } from "@svc/core";
import { integer, pgTable, serial, text } from "drizzle-orm/pg-core";

const columns = {
  id: serial("id").primaryKey(),
  userId: text("user_id").notNull(),
  title: text("title").notNull(),
  rank: integer("rank"),
  corpus: text("corpus").notNull().default("default"),
  visibility: text("visibility").notNull().default("private"),
};

/** Without options: private rows of one corpus. */
const diaries = pgTable("diaries", columns, (t) => [
  ...ownerRls(t.userId),
  ...searchable({ fields: [t.title], owner: t.userId }),
]);

/** All columns are declared, and there is no other policy: `searchable` alone decides who reads. */
const papers = pgTable("papers", columns, (t) =>
  searchable({ fields: [t.title], corpus: t.corpus, visibility: t.visibility, owner: t.userId }),
);

/** Every row is shared with all signed-in users. */
const manuals = pgTable("manuals", columns, (t) =>
  searchable({ fields: [t.title], corpus: t.corpus, visibility: "shared", owner: t.userId }),
);

/** Every row is public, without an owner; a word of a title counts three times. */
const bulletins = pgTable("bulletins", columns, (t) =>
  searchable({ fields: [{ column: t.title, weight: 3 }], language: "simple", visibility: "public", bm25: { k1: 1.5 } }),
);

/** Rows are never private, so they need no owner. */
const notices = pgTable(
  "notices",
  { ...columns, visibility: text("visibility", { enum: ["shared", "public"] }).notNull() },
  (t) => searchable({ fields: [t.title], corpus: t.corpus, visibility: t.visibility }),
);

/** Rows are shared between two people: `readers` alone decides who reads. */
const letters = pgTable("letters", { ...columns, recipientId: text("recipient_id") }, (t) =>
  searchable({
    fields: [t.title],
    corpus: t.corpus,
    visibility: "shared",
    owner: t.userId,
    readers: ownerRls(t.userId, { read: [t.recipientId], write: "nobody" }),
  }),
);

export const tables = { diaries, papers, manuals, bulletins, notices, letters };

export interface Row {
  id: number;
  userId: string;
  title: string;
  rank: number;
  corpus: string;
  visibility: string;
  /** Of letters. */
  recipientId?: string | null;
}

/** Whether a row of a user's scope is one that they read. */
export const isReadBy = ({ userId, recipientId }: Row, user: { id: string } | null): boolean =>
  recipientId === undefined || (user !== null && [userId, recipientId].includes(user.id));

/** The scope of a row, by its table's declaration. */
export function placeOf(table: keyof typeof tables, row: Row): Pick<Row, "corpus" | "visibility"> {
  const own = row.visibility;
  // What the type of notices excludes, and psql wrote nevertheless, is in no scope.
  const listed = own === "private" ? "none" : own;
  const fixed = { diaries: "private", papers: own, manuals: "shared", bulletins: "public", letters: "shared" };
  const visibility = { ...fixed, notices: listed }[table];
  return { corpus: table === "diaries" || table === "bulletins" ? "default" : row.corpus, visibility };
}
