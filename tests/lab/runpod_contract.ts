/** What Runpod's REST v2 takes and gives, re-typed from its published description (OpenAPI 3.1) and its newer pages. */

import { z } from "zod";

/** `allOf` of container and Pod merged; every unknown field is a violation. */
export const createPodRequest = z.strictObject({
  name: z.string().min(1).max(191),
  image: z.string().optional(),
  args: z.string().optional(),
  // Newer than the published description.
  entrypoint: z.array(z.string()).optional(),
  cmd: z.array(z.string()).optional(),
  disk: z.int().min(1).optional(),
  env: z.record(z.string(), z.string()).optional(),
  ports: z.array(z.string().regex(/^\d+\/(tcp|http)$/)).optional(),
  registry: z.string().nullable().optional(),
  mounts: z.strictObject({
    persistent: z.strictObject({ size: z.int().min(10), path: z.string() }).optional(),
    network: z.array(z.strictObject({ volumeId: z.string(), path: z.string() })).max(1).optional(),
  }).optional(),
  gpu: z.strictObject({
    id: z.string(),
    count: z.int().min(1).optional(),
    allowedCudaVersions: z.array(z.string()).optional(),
    minCudaVersion: z.string().optional(),
    minRamPerGpu: z.int().min(1).optional(),
    minVcpuCountPerGpu: z.int().min(1).optional(),
  }).optional(),
  cpu: z.strictObject({ id: z.string(), vcpuCount: z.int().optional() }).optional(),
  cloud: z.enum(["SECURE", "COMMUNITY"]).optional(),
  dataCenterIds: z.array(z.string()).optional(),
  templateId: z.string().min(1).optional(),
  globalNetworking: z.boolean().optional(),
  startJupyter: z.boolean().optional(),
  startSsh: z.boolean().optional(),
});

export type CreatePodRequest = z.infer<typeof createPodRequest>;

export type FakePodStatus = "PROVISIONING" | "STARTING" | "RUNNING" | "EXITED" | "ERROR" | "TERMINATED";

/** RFC 9457. */
export function problem(status: number, title: string, detail: string, errors?: readonly string[]): Response {
  const body = JSON.stringify({ title, status, detail, ...(errors === undefined ? {} : { errors }) });
  return new Response(body, { status, headers: { "content-type": "application/problem+json" } });
}

export const capacityText =
  "There are no longer any instances available with the requested specifications. Please refresh and try again.";
export const balanceText = "Your account balance is too low to rent a pod. Please add funds to your account.";

/** The violations of a body, as the service words them; empty when there are none. */
export function violations(body: unknown, options: { readonly execForm: boolean }): string[] {
  const result = createPodRequest.safeParse(body);
  const found = result.success ? [] : result.error.issues.flatMap((issue) => {
    const place = `$${issue.path.map((part) => `.${String(part)}`).join("")}`;
    return issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => `${place}: additional properties '${key}' not allowed`)
      : [`${place}: ${issue.message}`];
  });
  if (!result.success) return found;
  const { gpu, cpu, image, templateId, entrypoint, cmd } = result.data;
  if ((gpu === undefined) === (cpu === undefined)) found.push("$: exactly one of gpu, cpu is needed");
  if (image === undefined && templateId === undefined) found.push("$: missing property 'image'");
  if (!options.execForm) {
    for (const [name, value] of Object.entries({ entrypoint, cmd })) {
      if (value !== undefined) found.push(`$: additional properties '${name}' not allowed`);
    }
  }
  return found;
}
