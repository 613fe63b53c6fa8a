/**
 * Configures tracing by the standard OTEL_* variables. OpenTelemetry is imported only if an endpoint is configured.
 * Next hop: `otel.ts`. Variables: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
import { DefinitionError } from "../kit/definition-error.ts";
import { requirePackages } from "../kit/optional-packages.ts";
import type { Tracing, TracingSettings } from "./span.ts";

type Variables = Readonly<Record<string, string>>;

/**
 * @param otel the OTEL_* variables
 * @returns undefined without an endpoint: tracing is off, and nothing is loaded
 * @throws DefinitionError for variables with unsupported values, and if the packages for it are not installed
 */
export async function openTracing(otel: Variables): Promise<Tracing | undefined> {
  const settings = readSettings(otel);
  if (!settings) return undefined;
  requirePackages("tracing");
  const { startTracing } = await import("./otel.ts");
  return startTracing(settings);
}

export function readSettings(otel: Variables): TracingSettings | null {
  const of = (variable: string): string | undefined =>
    otel[`OTEL_EXPORTER_OTLP_TRACES_${variable}`] ?? otel[`OTEL_EXPORTER_OTLP_${variable}`];
  const base = otel.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = otel.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base.replace(/\/+$/, "")}/v1/traces`);
  const isOff = otel.OTEL_SDK_DISABLED?.toLowerCase() === "true" || otel.OTEL_TRACES_EXPORTER === "none";
  if (!url || isOff) return null;
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
    throw invalidVariable("OTEL_EXPORTER_OTLP_ENDPOINT", "a URL such as http://localhost:4318");
  }
  if ((otel.OTEL_TRACES_EXPORTER ?? "otlp") !== "otlp")
    throw invalidVariable("OTEL_TRACES_EXPORTER", '"otlp" or "none"');
  const protocol = of("PROTOCOL") ?? "http/json";
  // Collectors accept both protocols over HTTP, at the same address.
  if (protocol === "grpc")
    throw invalidVariable("OTEL_EXPORTER_OTLP_PROTOCOL", '"http/json"; collectors take it at port 4318');
  const { "service.name": named, ...attributes } = pairs(otel.OTEL_RESOURCE_ATTRIBUTES);
  return {
    serviceName: otel.OTEL_SERVICE_NAME ?? named ?? "svc",
    attributes,
    url,
    headers: { ...pairs(otel.OTEL_EXPORTER_OTLP_HEADERS), ...pairs(otel.OTEL_EXPORTER_OTLP_TRACES_HEADERS) },
    timeoutMs: number(of("TIMEOUT"), 10_000),
    gzip: of("COMPRESSION") === "gzip",
    sampler: readSampler(otel.OTEL_TRACES_SAMPLER ?? "always_on", otel.OTEL_TRACES_SAMPLER_ARG),
    batch: {
      delayMs: number(otel.OTEL_BSP_SCHEDULE_DELAY, 5_000),
      queue: number(otel.OTEL_BSP_MAX_QUEUE_SIZE, 2_048),
      size: number(otel.OTEL_BSP_MAX_EXPORT_BATCH_SIZE, 512),
    },
  };
}

/**
 * Anyone can send a `traceparent`. Its ids only join our spans to the caller's trace. We decide whether to record,
 * unless the operator chose a parent-based sampler.
 */
function readSampler(text: string, argument: string | undefined): TracingSettings["sampler"] {
  const believesParent = text.startsWith("parentbased_");
  const kinds = { always_on: "on", always_off: "off", traceidratio: "ratio" } as const;
  const kind = kinds[text.replace("parentbased_", "") as keyof typeof kinds];
  const ratio = argument === undefined ? 1 : Number(argument);
  if (!kind)
    throw invalidVariable(
      "OTEL_TRACES_SAMPLER",
      "always_on, always_off, traceidratio, or one of these after parentbased_",
    );
  if (!(ratio >= 0 && ratio <= 1)) throw invalidVariable("OTEL_TRACES_SAMPLER_ARG", "a share from 0 to 1");
  return { kind, ratio, believesParent };
}

/** `a=1,b=2`, values percent-encoded. */
function pairs(text = ""): Record<string, string> {
  const entries = text.split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at > 0 ? [[pair.slice(0, at).trim(), decode(pair.slice(at + 1).trim())]] : [];
  });
  return Object.fromEntries(entries);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function number(text: string | undefined, otherwise: number): number {
  const value = Number(text);
  return text !== undefined && Number.isInteger(value) && value > 0 ? value : otherwise;
}

/** The value is not repeated: it may be a URL with a password. */
const invalidVariable = (variable: string, be: string) =>
  new DefinitionError(`${variable} is not usable.`, { hint: `It must be ${be}.` });
