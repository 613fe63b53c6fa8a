/** What the desk offers. The procedures' names, not these keys, are what clients call. */
import { defineApi } from "@svc/core";
import * as attachments from "./attachments.ts";
import * as board from "./board.ts";
import * as cards from "./cards.ts";
import * as docs from "./docs.ts";
import * as expenses from "./expenses.ts";
import * as handbook from "./handbook.ts";
import * as library from "./library.ts";
import * as tasks from "./tasks.ts";

export default defineApi({
  procedures: {
    cards: cards.cardsCrud,
    runStatement: cards.run,
    tasks: tasks.tasksCrud,
    openCount: tasks.openCount,
    finishAll: tasks.finishAll,
    remind: tasks.remind,
    nag: tasks.nag,
    digest: tasks.digest,
    attachments: { add: attachments.add, list: attachments.list, remove: attachments.remove },
    posts: board.postsCrud,
    guestbook: board.guestbookCrud,
    docs: {
      contents: docs.contents,
      prepare: docs.prepare,
      refresh: docs.refresh,
      ask: docs.ask,
      section: docs.section,
    },
    handbook: { contents: handbook.contents, prepare: handbook.prepare, begin: handbook.begin, ask: handbook.ask },
    expenses: expenses.expensesCrud,
    fileExpense: expenses.file,
    decideExpense: expenses.decide,
    tellRun: expenses.tell,
    library: {
      add: library.add,
      list: library.list,
      remove: library.remove,
      open: library.open,
      ask: library.ask,
    },
  },
  workflows: { approveExpense: expenses.approve, readHandbook: handbook.read },
  crons: { nightly: tasks.nightly, hourlyDocs: docs.hourly },
  httpRoutes: { boardText: board.boardText, hello: board.hello },
});
