/** A page by cursor by the prepared statement of its shape, beside the same page by svc.find_rows(), taking turns. */
import { interleave, type Runner, reportBeside } from "../measure.ts";
import { serverCpu } from "../process.ts";
import type { Setting, User } from "./setting.ts";
import { ask } from "./sides.ts";

const rounds = 3;
const seconds = 2;

/** @param args of a list of `deep_items` with a cursor */
export async function compareCursor(
  { svc, cluster }: Setting,
  title: string,
  user: User,
  args: { cursor: string | null },
): Promise<void> {
  const headers = { authorization: `Bearer ${user.token}` };
  const request = (given: object) => ({ path: "/api/query", body: { name: "deep_items.list", args: given } });
  // PostgreSQL skips ends of lines in base64. svc writes none, so such a cursor is not usual, and svc.find_rows() reads it.
  const unusual = { ...args, cursor: `${args.cursor}\n\n\n\n` };
  const side = { process: svc, headers: () => headers };
  const [one, other] = [await ask(side, user, request(args)), await ask(side, user, request(unusual))];
  if (JSON.stringify(one) !== JSON.stringify(other)) throw new Error(`${title}: the answers differ`);

  const runner = (name: string, given: object): Runner => {
    const { path, body } = request(given);
    return { name, process: svc, path, headers, body: () => JSON.stringify(body) };
  };
  const results = await interleave([runner("prepared", args), runner("svc.find_rows()", unusual)], {
    rounds,
    seconds,
    databaseCpu: () => serverCpu(cluster),
  });
  reportBeside(title, results);
}
