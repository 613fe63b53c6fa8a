// If this file fails, an alert does not tell a person at night what to do, or slow clients set off the one of a slow service.
import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answerWait } from "../../src/http/exchange.ts";
import { root } from "../support/global-setup.ts";

const file = (path: string) => readFileSync(join(root, path), "utf8");

test("each alert says what to do, in the words of the page", () => {
  const plain = (text: string) => text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "");
  const page = [...file("docs/how-to/observe.md").matchAll(/^\| (`Svc.*?) \| (.*) \|$/gm)].flatMap(([, names, text]) =>
    [...String(names).matchAll(/Svc\w+/g)].map(([name]) => [name, plain(String(text))] as const),
  );
  const alerts = file("deploy/prometheus/alerts.yml").matchAll(/- alert: (\w+)[\s\S]*?action: (".*")$/gm);
  const told = [...alerts].map(([, name, action]) => [name, JSON.parse(String(action))] as const);
  expect(told.length).toBeGreaterThan(15);
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(page));
});

test("the wait for an answer is measured without what the client does", () => {
  const minute = 60_000;
  const exchange = (headers: Record<string, string>) => {
    const request = Object.assign(new EventEmitter(), { headers });
    const response = { writeHead: () => {} };
    const waited = answerWait(request as never, response as never, performance.now() - minute);
    return { request, response, waited };
  };
  const plain = exchange({});
  plain.response.writeHead();
  expect(plain.waited()).toBeGreaterThanOrEqual(minute);
  expect(plain.waited()).toBe(plain.waited()); // a stream goes on for as long as its client reads

  const upload = exchange({ "content-length": "5" });
  upload.request.emit("end");
  upload.response.writeHead();
  expect(upload.waited()).toBeLessThan(minute);

  const refused = exchange({ "transfer-encoding": "chunked" });
  refused.response.writeHead();
  refused.request.emit("end");
  expect(refused.waited()).toBe(0);
  const unanswered = exchange({ "content-length": "0" });
  expect(unanswered.waited()).toBeGreaterThanOrEqual(minute);
});
