/** Something to look at: `svc db seed`. Run again, it adds nothing. */
import { defineSeed } from "@svc/core";
import { eq } from "drizzle-orm";
import * as schema from "./schema.ts";

export default defineSeed<typeof schema>(async ({ context: { db }, user }) => {
  const ann = await user({ email: "ann@example.com", name: "Ann", password: "correct horse" });
  const bob = await user({ email: "bob@example.com", name: "Bob", password: "correct horse" });
  if (await db.$count(schema.tasks, eq(schema.tasks.userId, ann))) return;
  await db.insert(schema.tasks).values([
    { userId: ann, title: "Order paper", done: true },
    { userId: ann, title: "Answer the customer in Busan", priority: 2 },
    { userId: bob, title: "Bob's own: Ann does not see it" },
  ]);
  await db.insert(schema.posts).values({ userId: bob, title: "The printer works again" });
});
