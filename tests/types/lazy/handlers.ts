/** The type of the second follows from the page, that of the page from the first. */
import { createSvc } from "../../../src/index.ts";
import type { shown } from "./page.ts";
import * as schema from "./schema.ts";

const { procedure } = createSvc({ schema });

export const count = procedure.query.name("stones.count").handler(({ context }) => context.db.$count(schema.stones));

export const last = procedure.query.name("stones.last").handler(() => null as unknown as Awaited<typeof shown>);
