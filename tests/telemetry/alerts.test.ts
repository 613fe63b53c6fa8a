// If this file fails, an alert does not tell a person at night what to do, or slow clients set off the one of a slow service.
import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { answerWait } from "../../src/http/exchange.ts";
import { root } from "../support/global-setup.ts";
import { noPromtool, promtool } from "../support/promtool.ts";

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
  expect(plain.waited()).toBe(plain.waited()); // it does not grow while a client reads a stream

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

const rules = join(root, "deploy/prometheus/alerts.yml");

test.skipIf(noPromtool)(`Prometheus takes the rules${noPromtool}`, () => {
  const { status, stdout, stderr } = promtool(["check", "rules", rules]);
  const alerts = file("deploy/prometheus/alerts.yml").match(/- alert:/g);
  expect([status, stdout + stderr]).toEqual([0, expect.stringContaining(`${alerts?.length} rules found`)]);
});

/** @param fires for each minute whether the alert fires @param series values by minute, in promtool's notation */
async function rehearse(alertname: string, severity: string, fires: Record<number, boolean>, series: object) {
  const folder = await mkdtemp(join(tmpdir(), "svc-alerts-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const text = file("deploy/prometheus/alerts.yml").split(`alert: ${alertname}\n`)[1] ?? "";
  const [, summary, action] = /summary: (".*")\n +action: (".*")/.exec(text) ?? [];
  const exp_annotations = { summary: JSON.parse(String(summary)), action: JSON.parse(String(action)) };
  const alert = { exp_labels: { job: "svc", severity }, exp_annotations };
  const told = {
    rule_files: [rules],
    evaluation_interval: "1m",
    tests: [
      {
        interval: "1m",
        input_series: Object.entries(series).map(([series, values]) => ({ series, values })),
        alert_rule_test: Object.entries(fires).map(([minute, does]) => ({
          ...{ alertname, eval_time: `${minute}m`, exp_alerts: does ? [alert] : [] },
        })),
      },
    ],
  };
  await writeFile(join(folder, "test.yml"), JSON.stringify(told)); // JSON is YAML
  const { status, stdout, stderr } = promtool(["test", "rules", join(folder, "test.yml")]);
  expect([status, stdout + stderr]).toEqual([0, expect.stringContaining("SUCCESS")]);
}

test.skipIf(noPromtool)(`a run that fails is told for 15 minutes, whatever failed before${noPromtool}`, async () => {
  // Never for half an hour, then at minute 31, then at minute 61.
  const series = {
    'svc_workflow_last_failure_timestamp_seconds{job="svc",instance="a"}': "0x30 1860x30 3660x30",
  };
  await rehearse("SvcWorkflowsFailed", "warning", { 20: false, 32: true, 55: false, 63: true }, series);
});

test.skipIf(noPromtool)(`two single failures of a quiet service are no alert, and many are${noPromtool}`, async () => {
  const answers = (status: number) => `svc_http_request_duration_seconds_count{job="svc",status="${status}"}`;
  // In minutes 10 and 14; from minute 31 on, each minute.
  const series = { [answers(200)]: "0+12x60", [answers(500)]: "0x9 1x3 2x16 3+1x30" };
  await rehearse("SvcErrors", "critical", { 14: false, 16: false, 18: false, 45: true }, series);
});

test.skipIf(noPromtool)(`an alert of the database stays while the only process restarts${noPromtool}`, async () => {
  const restarting = (value: number) => `0x10 ${value}x20 stale _x2 ${value}x20 0x15`;
  const labels = 'job="svc",instance="a"';
  // Due from minute 11 on, away in minutes 32 to 34, in order from minute 56 on.
  await rehearse(
    "SvcJobsDead",
    "warning",
    { 10: false, 20: true, 33: true, 35: true, 57: false },
    { [`svc_jobs{${labels},state="dead"}`]: restarting(3) },
  );
  await rehearse(
    "SvcJobsLate",
    "warning",
    { 12: false, 20: true, 33: true, 35: true, 57: false },
    { [`svc_jobs_oldest_due_seconds{${labels}}`]: restarting(100) },
  );
  const kept = { [`svc_jobs{${labels},state="dead"}`]: "3x10 stale" };
  await rehearse("SvcJobsDead", "warning", { 10: true, 14: true, 20: false }, kept);
});

test.skipIf(noPromtool)(
  `deliveries that wait and are not sent are told before the first is dead${noPromtool}`,
  async () => {
    const pending = 'svc_webhook_deliveries{job="svc",instance="a",state="pending"}';
    // A receiver that answers nothing: ten more a minute. From minute 61 on it takes all of them.
    const series = { [pending]: "0+10x60 0x60" };
    await rehearse("SvcWebhooksWaiting", "warning", { 20: false, 45: true, 65: false }, series);
    // As many come as go: after an import, or by day.
    await rehearse("SvcWebhooksWaiting", "warning", { 45: false, 100: false }, { [pending]: "0x20 5000-100x50 0x60" });
    await rehearse("SvcWebhooksWaiting", "warning", { 45: false, 100: false }, { [pending]: "0 3 1 0 2 1 3 0 2x120" });
    // More than are counted: whether they become fewer cannot be seen.
    await rehearse("SvcWebhooksWaiting", "warning", { 30: false, 60: true }, { [pending]: "0x20 10000x60" });
  },
);

test.skipIf(noPromtool)(
  `limits that refuse many calls are told, and a single caller at a limit is not${noPromtool}`,
  async () => {
    const answers = 'svc_http_request_duration_seconds_count{job="svc",status="200",operation="tasks.list"}';
    const refused = 'svc_http_errors_total{job="svc",code="RATE_LIMITED"}';
    // One in a hundred until minute 30, then each second one: behind a proxy that is not trusted.
    const series = { [answers]: "0+1000x90", [refused]: "0+10x30 300+500x60" };
    await rehearse("SvcLimitsRefuse", "warning", { 25: false, 35: false, 60: true }, series);
    await rehearse("SvcLimitsRefuse", "warning", { 60: false }, { [answers]: "0+2x90", [refused]: "0+1x90" });
  },
);
