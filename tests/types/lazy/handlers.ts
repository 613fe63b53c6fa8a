/** The type of the second follows from the page, that of the page from the first; the third from a page that shows runs. */
import { createSvc } from "../../../src/index.ts";
import type { run, shown } from "./page.ts";
import * as schema from "./schema.ts";

const { procedure } = createSvc({ schema });

export const count = procedure.query.name("stones.count").handler(({ context }) => context.db.$count(schema.stones));

export const last = procedure.query.name("stones.last").handler(() => null as unknown as Awaited<typeof shown>);

export const lastRun = procedure.query.name("stones.lastRun").handler(() => null as unknown as Awaited<typeof run>);
