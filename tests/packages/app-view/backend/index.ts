import { defineApi } from "@svc/core";
import * as t from "./tasks.ts";

export default defineApi({
  procedures: {
    tasks: t.tasksCrud,
    articles: t.articlesCrud,
    guestbook: t.guestbookCrud,
    openCount: t.openCount,
    attach: t.attach,
    remind: t.remind,
  },
  httpRoutes: { hello: t.hello },
});
