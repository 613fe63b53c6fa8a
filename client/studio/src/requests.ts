/** Requests, Trace and Mailbox: what the service of svc dev did lately. */
import { ask } from "./api.ts";
import { bar, type Child, code, controls, copyButton, field, h, heading, later, link, quiet, table } from "./dom.ts";
import { href, type State } from "./state.ts";
import { command, lasting, time } from "./texts.ts";
import type { Mail, RequestSummary, Span } from "./types.ts";
import { userLink } from "./user-link.ts";

/** In milliseconds. */
const lookEvery = 2_000;

/** Shows an answer, and shows it anew while it changes, until the place is left. */
function live<Answer>(what: string, name: string, show: (answer: Answer) => Child): HTMLElement {
  let last = "";
  const load = async (): Promise<Child> => {
    const answer = await ask<Answer>(name);
    last = JSON.stringify(answer);
    return show(answer);
  };
  const place = later(what, load);
  const timer = setInterval(async () => {
    if (!place.isConnected) return clearInterval(timer);
    // A row that has the focus stays.
    if (document.hidden || place.contains(document.activeElement)) return;
    const answer = await ask<Answer>(name).catch(() => undefined);
    if (answer === undefined || JSON.stringify(answer) === last) return;
    last = JSON.stringify(answer);
    place.replaceChildren(...[show(answer)].flat(9).filter((child) => child instanceof Node));
  }, lookEvery);
  return place;
}

const onlyBesideDev = () =>
  quiet(
    "Only the Studio of ",
    code("svc dev"),
    " sees what its service does, and keeps it in memory. In production, ",
    code("svc logs"),
    " and OpenTelemetry tell it.",
  );

export function requests(state: State): Child {
  if (state.trace) return [heading("Trace"), later("the trace", () => trace(state.trace as string))];
  return [heading("Requests"), live<RequestSummary[] | null>("the requests", "requests", list)];
}

function list(all: RequestSummary[] | null): Child {
  if (all === null) return onlyBesideDev();
  if (all.length === 0) return quiet("No request yet. Use the application, and each of its calls appears here.");
  const rows = all.map((one) => [
    h(
      "a",
      { href: href({ trace: one.traceId }), "aria-label": `Trace of ${one.name} at ${time(one.at)}` },
      time(one.at),
    ),
    one.name,
    h("span", { class: (one.status ?? 0) >= 400 ? "no" : null }, [one.status, one.failed].filter(Boolean).join(" ")),
    one.user ? userLink(one.user) : "–",
    lasting(one.ms),
    one.statements,
    one.jobs,
  ]);
  return table("Requests, the newest first", ["At", "Request", "Status", "As", "Took", "Statements", "Jobs"], rows);
}

async function trace(id: string): Promise<Child> {
  const spans = await ask<Span[]>("trace", { id });
  const from = Math.min(...spans.map(({ began }) => began));
  const until = Math.max(...spans.map(({ began, ms }) => began + ms));
  const depths = new Map<string, number>();
  const rows = spans.map((span) => {
    const depth = span.parentId === null ? 0 : (depths.get(span.parentId) ?? -1) + 1;
    depths.set(span.spanId, depth);
    const text = span.attributes["db.query.text"];
    return [
      [
        h("span", { class: span.failed ? "no" : null }, `${"\u2003".repeat(depth)}${span.name}`),
        typeof text === "string" &&
          h("details", {}, h("summary", {}, "SQL"), h("pre", { tabindex: 0 }, text), copyButton("Copy as SQL", text)),
      ],
      kinds[span.kind] ?? span.kind,
      bar((span.began - from) / (until - from), (span.began + span.ms - from) / (until - from)),
      lasting(span.ms),
      span.failed ?? "–",
    ];
  });
  const request = spans.find(({ attributes }) => attributes["svc.request_id"]);
  const requestId = String(request?.attributes["svc.request_id"] ?? "");
  const operation = request?.attributes["svc.operation"];
  const user = request?.attributes["user.id"];
  return [
    h(
      "dl",
      { class: "facts" },
      ...field("Request", requestId || "–"),
      ...field("Operation", typeof operation === "string" ? operation : "–"),
      ...field("As", typeof user === "string" ? userLink(user) : "without an account"),
      ...field("At", time(new Date(from).toISOString())),
      ...field("Took", lasting(until - from)),
    ),
    table("Spans in the order in which they began", ["Span", "What", "When", "Took", "Error"], rows),
    controls(
      link(href({ trace: null }), "All requests"),
      requestId !== "" && copyButton("Copy as command", command("logs", "FILE", "--request", requestId)),
      copyButton("Copy as JSON", JSON.stringify(spans, null, 2)),
    ),
  ];
}

const kinds: Record<string, string> = {
  server: "HTTP",
  client: "SQL",
  producer: "enqueues, sends",
  consumer: "job",
  internal: "step",
};

export const mailbox = (): Child => [
  heading("Mailbox"),
  live<Mail[] | null>("the mails", "mails", (all) => {
    if (all === null) return onlyBesideDev();
    if (all.length === 0) return quiet("No mail yet. A sign-up or a forgotten password sends one.");
    const rows = all.map(({ at, kind, email, url }) => [
      time(at),
      kind,
      email,
      h("a", { href: url, target: "_blank", rel: "noreferrer" }, "Open the link"),
      copyButton("Copy the link", url),
    ]);
    return table("Mails, the newest first", ["At", "About", "To", "Link", "Copy"], rows);
  }),
];
