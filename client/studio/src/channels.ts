/** Channels that are open, as the processes tell when they are asked. */
import { ask } from "./api.ts";
import { type Child, code, h, later, plain, quiet, table } from "./dom.ts";
import { number, time } from "./texts.ts";

interface Report {
  process: string;
  names: [name: string, open: number, members: number, largest: number][];
  /** The largest ones, and the last messages, while developing. */
  rooms: [topic: string, members: number][];
  messages: [at: number, topic: string, message: string, bytes: number][];
}

/** Asks only when somebody presses: each process answers by a statement. */
export function channels(): Child {
  const place = h("div", {});
  const show = () => place.replaceChildren(later("the answers of the processes", list));
  return [h("h2", {}, "Channels"), plain(h("button", { type: "button", onclick: show }, "Ask the processes")), place];
}

async function list(): Promise<Child> {
  const { processes } = await ask<{ processes: Report[] }>("channels");
  if (processes.length === 0) {
    return quiet("No process answered. Those without a socket do not read the log, so they hear no question.");
  }
  const each = <Row>(rows: (of: Report) => Row[], cells: (row: Row) => Child[]): Child[][] =>
    processes.flatMap((of) => rows(of).map((row) => [of.process, ...cells(row)]));
  const names = each(
    ({ names }) => names,
    ([name, ...numbers]) => [name, ...numbers.map(number)],
  );
  const rooms = each(
    ({ rooms }) => rooms,
    ([topic, members]) => [code(topic), number(members)],
  );
  const messages = each(
    ({ messages }) => messages,
    ([at, topic, message, bytes]) => [time(new Date(at).toISOString()), code(topic), message, number(bytes)],
  );
  return [
    names.length > 0
      ? table("Open channels by process", ["Process", "Channel", "Open", "Connections", "Most in one"], names)
      : quiet(`No channel is open in ${processes.map(({ process }) => process).join(", ")}.`),
    rooms.length > 0 && table("The largest channels", ["Process", "Channel", "Connections"], rooms),
    messages.length > 0 && table("The last messages", ["Process", "At", "Channel", "Message", "Bytes"], messages),
  ];
}
