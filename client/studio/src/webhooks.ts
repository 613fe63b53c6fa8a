/** Webhooks: what leaves, what waits, and what is dead. */
import { actButton, mayAct } from "./acting.ts";
import { ask } from "./api.ts";
import {
  type Child,
  choice,
  choices,
  code,
  controls,
  copyButton,
  h,
  heading,
  later,
  link,
  plain,
  quiet,
  table,
} from "./dom.ts";
import { fresh, href, type State } from "./state.ts";
import { command, number, time } from "./texts.ts";
import type { Delivery, Webhooks } from "./types.ts";

const states = ["dead", "pending", "sent"] as const;
type DeliveryState = (typeof states)[number];

/** The parts of the address that are theirs. */
const newest = { end: null, before: null };

export function webhooks(state: State): Child {
  const shown = states.find((one) => one === state.state) ?? "dead";
  return [
    heading("Webhooks"),
    later("the webhooks", () => overview(shown, state)),
    later("the deliveries", () => deliveries(shown, state)),
  ];
}

/** As far as it is counted. */
const upTo = (count: number) => (count < 1_000 ? number(count) : `${number(count)} or more`);

async function overview(shown: DeliveryState, { webhook }: State): Promise<Child> {
  const { webhooks, ...counts } = await ask<Webhooks>("webhooks");
  const rows = webhooks.map((one) => [
    h(
      "a",
      { href: href({ webhook: one.name, ...newest }), "aria-current": one.name === webhook ? "true" : null },
      one.name,
    ),
    link(fresh({ panel: "data", table: one.table }), one.table),
    one.when.join(", "),
    one.receiver === null || one.isEnv
      ? [one.isProcedure && "runs ", one.receiver ?? "–"]
      : ["rows of ", link(fresh({ panel: "data", table: one.receiver }), one.receiver)],
  ]);
  return [
    rows.length > 0
      ? table("Webhooks of the application", ["Webhook", "Table", "When", "Receiver"], rows)
      : quiet("The application declares none: ", code("webhook({ … })"), " adds one."),
    choices(
      ...states.map((one) =>
        choice(
          href({ state: one, ...newest }),
          one === shown,
          one === "sent" ? null : h("strong", {}, upTo(counts[one])),
          ` ${one}`,
        ),
      ),
    ),
  ];
}

async function deliveries(shown: DeliveryState, { webhook = "", end, before }: State): Promise<Child> {
  const name = webhook.slice(0, 200) || null;
  const place = /^\d{1,18}$/.test(before ?? "") ? { end: end ?? null, sequence: before } : null;
  const input = { state: shown, webhook: name, before: place };
  const [page, acts] = await Promise.all([
    ask<{ deliveries: Delivery[]; next: { end: string | null; sequence: string } | null }>("deliveries", input),
    mayAct(),
  ]);
  const canRetry = acts && shown === "dead";
  const when = { dead: "Dead since", pending: "Next attempt", sent: "Sent at" }[shown];
  const head = [
    "Webhook",
    "Receiver",
    "Row",
    "Changed at",
    "Attempts",
    when,
    "Last answer",
    ...(canRetry ? ["Acts"] : []),
  ];
  const rows = page.deliveries.map((one) => [
    [one.webhook, h("small", { title: one.id }, ` ${one.id.slice(0, 8)}`)],
    receiver(one),
    one.row_key.replace(/^"(\w+)"\."(\w+)" /, "$1.$2 "),
    time(one.created_at),
    one.attempts,
    shown !== "pending"
      ? time(one.ended_at)
      : [
          time(one.due_at),
          one.waits_until && h("small", {}, ` Its receiver gets nothing before ${time(one.waits_until)}.`),
        ],
    one.last_error ?? one.last_status ?? "–",
    ...(canRetry
      ? [actButton("Retry", { act: "act_retry_deliveries", id: one.id, webhook: null }, { on: `delivery ${one.id}` })]
      : []),
  ]);
  const options = ["--state", shown, ...(name ? ["--webhook", name] : [])];
  return [
    name && plain(`Only ${name}. `, link(href({ webhook: null, ...newest }), "All webhooks")),
    rows.length > 0
      ? table(`Deliveries that are ${shown}, newest first`, head, rows)
      : quiet(`No delivery is ${shown}. ${meanings[shown]}`),
    controls(
      place && link(href(newest), "Newest"),
      page.next && link(href({ end: page.next.end, before: page.next.sequence }), "Older"),
      canRetry &&
        rows.length > 0 &&
        actButton(
          "Retry all that are dead",
          { act: "act_retry_deliveries", id: null, webhook: name },
          { on: name ? `of ${name}` : "of all webhooks", isFinal: true },
        ),
      copyButton("Copy as command", command("webhooks", "list", ...options)),
    ),
  ];
}

const receiver = ({ source, endpoint }: Delivery): Child =>
  source === "env" || source === null
    ? endpoint
    : link(fresh({ panel: "data", table: source, row: JSON.stringify([endpoint]) }), `${source} ${endpoint}`);

const meanings: Record<DeliveryState, string> = {
  dead: "A delivery is dead when all its attempts have failed; then a person decides.",
  pending: "A delivery is pending until a receiver has taken it.",
  sent: "Those that were sent are kept for limits.webhookDays.",
};
