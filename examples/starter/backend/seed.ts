/** Something to look at: `npx svc db seed`. Run again, it adds nothing. */
import { defineSeed } from "@svc/core";
import { eq } from "drizzle-orm";
import * as schema from "./schema.ts";

export default defineSeed<typeof schema>(async ({ context: { db }, user }) => {
  const ann = await user({ email: "ann@example.com", name: "Ann", password: "correct horse" });
  if (await db.$count(schema.notes, eq(schema.notes.userId, ann))) return;
  await db.insert(schema.notes).values([
    { userId: ann, text: "Read the tutorial", done: true },
    { userId: ann, text: "Make a table of my own" },
  ]);
});
