/** What the desk offers. The procedures' names, not these keys, are what clients call. */
import { defineApi } from "@svc/core";
import * as board from "./board.ts";
import * as docs from "./docs.ts";
import * as tasks from "./tasks.ts";

export default defineApi({
  procedures: {
    tasks: tasks.tasksCrud,
    openCount: tasks.openCount,
    finishAll: tasks.finishAll,
    remind: tasks.remind,
    nag: tasks.nag,
    digest: tasks.digest,
    posts: board.postsCrud,
    guestbook: board.guestbookCrud,
    prepareDocs: docs.prepare,
    checkDocs: docs.check,
    docsSection: docs.section,
  },
  crons: { nightly: tasks.nightly },
  httpRoutes: { boardText: board.boardText, hello: board.hello },
});
