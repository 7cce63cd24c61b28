import * as z from "zod";

/**
 * What we read of Runpod's REST v2 answers (https://docs.runpod.io/api-reference-v2). Only `id`, `name` and `status`
 * are insisted on: a field that is missing or odd must never hide a Pod that costs money.
 */

const endpoint = z.looseObject({ host: z.string(), port: z.int() });

const port = z.looseObject({
  ip: z.string(),
  private: z.int(),
  public: z.int(),
  type: z.string(),
});

const podSchema = z.looseObject({
  id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  name: z.string(),
  status: z.string(),
  env: z.record(z.string(), z.string()).nullish().catch(null),
  cost: z.number().nonnegative().nullish().catch(null),
  gpu: z.looseObject({ id: z.string() }).nullish().catch(null),
  ssh: z.looseObject({ direct: endpoint.nullish().catch(null) }).nullish().catch(null),
  runtime: z.looseObject({
    ports: z.array(port).nullish().catch(null),
    uptime: z.number().nonnegative().nullish().catch(null),
  }).nullish().catch(null),
});

export const listSchema = z.looseObject({
  pods: z.array(podSchema),
  pagination: z.looseObject({ nextCursor: z.string().nullish(), hasNextPage: z.boolean().nullish() })
    .nullish(),
});

const price = z.number().positive().nullish().catch(null);

const catalogSchema = z.looseObject({
  gpus: z.array(z.looseObject({
    id: z.string(),
    price: z.looseObject({ secure: price, community: price }).nullish().catch(null),
    availability: z.enum(["NONE", "LOW", "MEDIUM", "HIGH"]).nullish().catch(null),
  })),
});

/** RFC 9457, and the older envelopes `{error}` and `{message}`. */
export const problemSchema = z.looseObject({
  title: z.string().optional().catch(undefined),
  detail: z.string().optional().catch(undefined),
  error: z.string().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  errors: z.array(z.string()).optional().catch(undefined),
});

/** A Pod as we see it. */
export interface Pod {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly env: Readonly<Record<string, string>>;
  /** US dollars an hour; `null` when the answer has none. */
  readonly costUsd: number | null;
  readonly gpu: string | null;
  /** Seconds since the container was started; `null` when the answer has none. */
  readonly uptimeSec: number | null;
  /** Where sshd is reached directly; `null` until the container runs. */
  readonly ssh: { readonly host: string; readonly port: number } | null;
}

/** What Runpod's catalog says of one type of GPU. */
export interface GpuOffer {
  readonly id: string;
  /** US dollars an hour for one; `null` when the answer has none. */
  readonly hourlyUsd: number | null;
  /** As Runpod calls it; `null` when the answer has none. */
  readonly stock: "NONE" | "LOW" | "MEDIUM" | "HIGH" | null;
}

/** @throws {z.ZodError} when it is no catalog */
export function readOffers(value: unknown, cloud: "SECURE" | "COMMUNITY"): GpuOffer[] {
  return catalogSchema.parse(value).gpus.map(({ id, price, availability }) => ({
    id,
    hourlyUsd: (cloud === "SECURE" ? price?.secure : price?.community) ?? null,
    stock: availability ?? null,
  }));
}

/** @throws {z.ZodError} when it is no Pod */
export function readPod(value: unknown): Pod {
  return toPod(podSchema.parse(value));
}

export function toPod(pod: z.infer<typeof podSchema>): Pod {
  const direct = pod.ssh?.direct;
  // The list of ports also names http ports on addresses that nobody can reach from outside.
  const mapped = pod.runtime?.ports?.find(({ private: inner, type }) => inner === 22 && type === "tcp");
  const ssh = direct
    ? { host: direct.host, port: direct.port }
    : mapped
    ? { host: mapped.ip, port: mapped.public }
    : null;
  return {
    id: pod.id,
    name: pod.name,
    status: pod.status,
    env: pod.env ?? {},
    costUsd: pod.cost ?? null,
    gpu: pod.gpu?.id ?? null,
    uptimeSec: pod.runtime?.uptime ?? null,
    ssh: ssh !== null && isSshTarget(ssh) ? ssh : null,
  };
}

/** It becomes a line of an ssh configuration, so it may hold nothing but a host and a port. */
function isSshTarget({ host, port }: { host: string; port: number }): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9.:-]*$/.test(host) && port >= 1 && port <= 65_535;
}

/** A Pod that costs nothing any more. Runpod shows it as TERMINATED for a while before it vanishes. */
export function isTerminated(pod: Pick<Pod, "status">): boolean {
  return pod.status === "TERMINATED";
}
