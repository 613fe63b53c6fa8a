/** Storage, Realtime and AI: what is used, by each owner. */
import { ask } from "./api.ts";
import { channels } from "./channels.ts";
import { type Child, choice, choices, code, copyButton, h, heading, later, link, plain, quiet, table } from "./dom.ts";
import { fresh, href, type State } from "./state.ts";
import { command, number } from "./texts.ts";

interface Figure {
  metric: string;
  state: string;
  value: number;
}

function bytes(value: number | string): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let size = Number(value);
  let unit = 0;
  for (; size >= 1024 && unit < units.length - 1; unit++) size /= 1024;
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}

export const storage = (): Child => [
  heading("Storage"),
  later("the stored files", async () => {
    interface Bucket {
      bucket: string;
      user_id: string | null;
      email: string | null;
      bytes: string;
    }
    const { figures, buckets } = await ask<{ figures: Figure[]; buckets: Bucket[] }>("storage");
    const of = (metric: string) => figures.find((one) => one.metric === metric)?.value ?? 0;
    const rows = buckets
      .filter(({ bucket }) => bucket !== "all")
      .map(({ bucket, user_id, email, bytes: size }) => [
        user_id ? link(fresh({ panel: "people", user: user_id }), email) : bucket,
        bytes(size),
        user_id ? link(fresh({ panel: "data", table: "svc.storage_objects", as: user_id }), "Files as this user") : "–",
      ]);
    return [
      plain(
        link(
          fresh({ panel: "data", table: "svc.storage_objects", ghosts: "1" }),
          `${number(of("storage_objects"))} files`,
        ),
        `, ${bytes(of("storage_bytes"))}, ${number(of("storage_uploads"))} unfinished uploads`,
      ),
      rows.length > 0
        ? table("Bytes that count for each owner, the largest first", ["Owner", "Size", "Files"], rows)
        : quiet("Nothing is stored yet. ", code("ctx.storage.store(…)"), " and uploads of clients store files."),
      quiet(
        "Sizes are those that quotas count: unfinished uploads with their announced size, a file with at least 4 KiB.",
      ),
      plain(copyButton("Copy as command", "npx svc storage verify")),
    ];
  }),
];

export const realtime = (): Child => [
  heading("Realtime"),
  later("the state of realtime", async () => {
    interface State {
      wal_level: string;
      slots: number;
      slot_limit: number;
      senders: number;
      sender_limit: number;
      keep_bytes: number | null;
      held: { name: string; active: boolean; status: string; bytes: number }[];
    }
    const { state, tables } = await ask<{ state: State; tables: { name: string; identity: string }[] }>("realtime");
    return [
      state.wal_level !== "logical" &&
        h("p", { class: "problem" }, `wal_level is ${state.wal_level}: realtime needs logical.`),
      plain(
        `${state.slots} of ${state.slot_limit} slots, ${state.senders} of ${state.sender_limit} senders; a slot keeps at most `,
        state.keep_bytes === null
          ? "everything: max_slot_wal_keep_size sets a limit."
          : `${bytes(state.keep_bytes)} of the log.`,
      ),
      h("h2", {}, "Slots"),
      state.held.length > 0
        ? table(
            "Replication slots",
            ["Slot", "Reader", "Log", "Keeps"],
            state.held.map((slot) => [slot.name, slot.active ? "connected" : "gone", slot.status, bytes(slot.bytes)]),
          )
        : quiet("No process reads the log. The service opens a slot when the first client subscribes."),
      h("h2", {}, "Published tables"),
      tables.length > 0
        ? table(
            "Published tables",
            ["Table", "A changed row is identified by"],
            tables.map(({ name, identity }) => [link(fresh({ panel: "policies", table: name }), name), identity]),
          )
        : quiet("No table is published: a resource with ", code("realtime: true"), " publishes its table."),
      plain(copyButton("Copy as command", "npx svc db stats")),
    ];
  }),
  channels(),
];

export const ai = (state: State): Child => {
  const days = Number(state.days) || 7;
  const choose = (count: number) => choice(href({ days: String(count) }), count === days, `${count} days`);
  return [
    heading("AI"),
    choices(...[1, 7, 30, 90].map(choose)),
    later("the ledger", async () => {
      interface Usage {
        day: string;
        user_id: string | null;
        email: string | null;
        model: string;
        calls: string;
        input_tokens: string;
        output_tokens: string;
        charged: string;
        reserved: string;
      }
      const { figures, rows } = await ask<{ figures: Figure[]; rows: Usage[] }>("usage", { days });
      const today = (one: string) => figures.find(({ state }) => state === one)?.value ?? 0;
      const lines = rows.map((row) => [
        row.day,
        row.user_id ? link(fresh({ panel: "people", user: row.user_id }), row.email ?? row.user_id) : "system",
        row.model,
        number(row.calls),
        number(row.input_tokens),
        number(row.output_tokens),
        number(row.charged),
        number(row.reserved),
      ]);
      return [
        plain(`Today (UTC): ${number(today("charged"))} credits charged, ${number(today("reserved"))} reserved`),
        lines.length > 0
          ? table(
              "Usage by day, user and model",
              ["Day (UTC)", "User", "Model", "Calls", "Tokens in", "Tokens out", "Credits", "Reserved"],
              lines,
            )
          : quiet("No call in these days. ", code("ctx.ai"), " writes each call and its cost into the ledger."),
        plain(copyButton("Copy as command", command("ai", "usage", "--days", String(days)))),
      ];
    }),
  ];
};
