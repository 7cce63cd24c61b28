import { isAbsolute, relative } from "node:path";
import type { RecipeFile } from "../config/recipe.ts";
import type { TrainConfig } from "../config/train.ts";
import type { HubAccount, RepositoryState } from "../hub/repository.ts";
import { rentalPlan } from "../rent/begin.ts";
import { dollars } from "../rent/cost.ts";
import type { Ledger } from "../rent/ledger.ts";
import { isOver } from "../rent/next_step.ts";
import type { GpuOffer, Pod } from "../rent/runpod_schema.ts";
import { strayPods } from "../rent/strays.ts";
import { shellQuote } from "../ssh/quote.ts";
import { message, UserError } from "../system/errors.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import { sizeText } from "../text/size.ts";
import { faultFinding } from "./here_findings.ts";
import { amiss, type Finding, type FindingId, well } from "./types.ts";

/** What was read for `train`; a fault stands for what could not be read. */
export interface TrainLook {
  readonly file: RecipeFile;
  readonly runpod: RunpodLook | UserError;
  readonly hub: HubLook | UserError;
  readonly identity: IdentityLook | UserError;
  readonly runs: ReadonlyMap<string, Ledger> | UserError;
}

export interface RunpodLook {
  readonly pods: readonly Pod[];
  /** That this machine's clock is too far off; `null` when it is not. */
  readonly clock: UserError | null;
  readonly offers: readonly GpuOffer[] | UserError;
}

export interface HubLook {
  readonly account: HubAccount;
  readonly repository: RepositoryState["kind"] | UserError;
  /** Bytes of private storage; `null` when the Hub does not tell. */
  readonly freeBytes: number | null;
}

export interface IdentityLook {
  readonly file: string;
  /** `undefined` where we may not look. */
  readonly there: boolean | undefined;
  /** Why the public half could not be had; `null` when it could. */
  readonly publicHalf: UserError | null;
}

/** What `train` would meet, in the order in which it would. */
export function trainFindings({ file, runpod, hub, identity, runs }: TrainLook): Finding[] {
  const { recipe } = file;
  return [
    well("configuration", message("doctor.train.configuration", { file: file.configFile })),
    ...(runpod instanceof UserError ? [fault("runpod", runpod)] : runpodFindings(recipe, runpod)),
    ...(hub instanceof UserError ? [fault("hub", hub)] : hubFindings(recipe, hub)),
    identity instanceof UserError ? fault("identity", identity) : identityFinding(file.root, identity),
    ...(runs instanceof UserError ? [faultFinding("runs", runs, message("doctor.train.records.why"))] : [
      ...(runpod instanceof UserError ? [] : [strayFinding(recipe, runpod.pods, runs)]),
      openRunFinding(runs),
    ]),
  ];
}

function fault(id: FindingId, error: UserError): Finding {
  return faultFinding(id, error, message("doctor.train.why"));
}

function runpodFindings(recipe: TrainConfig, { clock, offers }: RunpodLook): Finding[] {
  return [
    well("runpod", message("doctor.train.runpod")),
    ...(clock === null ? [] : [fault("clock", clock)]),
    ...(offers instanceof UserError
      ? [amiss("warning", {
        id: "stock",
        what: offers.text,
        why: message("doctor.train.stock.unread.why"),
        mend: offers.hint ?? null,
      })]
      : stockFindings(recipe, offers)),
  ];
}

/** One GPU that cannot be had is a problem only where no other can either. */
function stockFindings(recipe: TrainConfig, offers: readonly GpuOffer[]): Finding[] {
  const cap = rentalPlan(recipe, { fallback: true }).hourlyCapUsd;
  const seen = recipe.gpus.map(({ id }) => {
    const offer = offers.find((each) => each.id === id);
    return { id, offer, trouble: troubleWith(offer, cap) };
  });
  const level = seen.some(({ trouble }) => trouble === null) ? "warning" : "problem";
  return seen.map(({ id: gpu, offer, trouble }) => {
    const price = offer?.hourlyUsd ? dollars(offer.hourlyUsd) : "?";
    if (trouble === null) {
      return well("stock", message("doctor.train.stock", { gpu, price, stock: offer?.stock ?? "?" }));
    }
    return amiss(level, {
      id: "stock",
      what: trouble === "dear"
        ? message("doctor.train.stock.dear", { gpu, price, cap: dollars(cap) })
        : message(`doctor.train.stock.${trouble}`, { gpu }),
      why: message("doctor.train.stock.why"),
      mend: message(`doctor.train.stock.${trouble}.mend`),
    });
  });
}

function troubleWith(offer: GpuOffer | undefined, cap: number): "unknown" | "none" | "dear" | null {
  if (offer === undefined) return "unknown";
  if (offer.hourlyUsd !== null && offer.hourlyUsd > cap) return "dear";
  return offer.stock === "NONE" ? "none" : null;
}

function hubFindings({ hub }: TrainConfig, { account, repository, freeBytes }: HubLook): Finding[] {
  const { repository: repo } = hub;
  const name = sanitizeLine(account.name);
  const why = message("doctor.train.why");
  return [
    account.mayWrite ? well("hub", message("doctor.train.hub", { name })) : amiss("problem", {
      id: "hub",
      what: message("hub.read_only", { name }),
      why,
      mend: message("hub.read_only.hint"),
    }),
    repository instanceof UserError
      ? fault("repository", repository)
      : repository === "public"
      ? amiss("problem", {
        id: "repository",
        what: message("hub.not_private", { repo }),
        why,
        mend: message("hub.not_private.hint"),
      })
      : well("repository", message(`doctor.train.repository.${repository}`, { repo })),
    roomFinding(hub, freeBytes),
  ];
}

function roomFinding({ repository: repo, needs_gb }: TrainConfig["hub"], freeBytes: number | null): Finding {
  if (freeBytes === null) return well("storage", message("hub.room_unknown"));
  const free = sizeText(freeBytes);
  if (freeBytes >= needs_gb * 1e9) return well("storage", message("hub.room", { free }));
  return amiss("problem", {
    id: "storage",
    what: message("hub.no_room", { repo, size: sizeText(needs_gb * 1e9), free }),
    why: message("doctor.train.why"),
    mend: message("hub.no_room.hint"),
  });
}

function identityFinding(root: string, { file, there, publicHalf }: IdentityLook): Finding {
  if (there === false) {
    return amiss("problem", {
      id: "identity",
      what: message("doctor.train.identity.missing", { file }),
      why: message("doctor.train.why"),
      mend: message("doctor.train.identity.missing.mend"),
      command: `ssh-keygen -t ed25519 -f ${shellQuote(file)}`,
    });
  }
  if (publicHalf !== null) {
    // `train` may read all of the project, and is then not in want of what is kept from this examination alone.
    const level = isInside(root, file) && publicHalf.cause instanceof Deno.errors.NotCapable
      ? "warning"
      : "problem";
    return { ...fault("identity", publicHalf), level };
  }
  return well(
    "identity",
    there ? message("doctor.train.identity", { file }) : message("doctor.train.identity.unseen", { file }),
  );
}

function isInside(root: string, file: string): boolean {
  const path = relative(root, file);
  return !path.startsWith("..") && !isAbsolute(path);
}

function strayFinding(
  recipe: TrainConfig,
  pods: readonly Pod[],
  runs: ReadonlyMap<string, Ledger>,
): Finding {
  const strays = strayPods(pods, recipe.name_prefix, runs.values()).map(({ name }) => sanitizeLine(name));
  if (strays.length === 0) return well("pods", message("doctor.train.pods"));
  return amiss("warning", {
    id: "pods",
    what: message("doctor.train.pods.stray", { names: strays.join(", ") }),
    why: message("doctor.train.pods.why"),
    mend: message("doctor.train.pods.mend"),
    command: "tias-remote sweep",
  });
}

function openRunFinding(runs: ReadonlyMap<string, Ledger>): Finding {
  const open = [...runs].filter(([, ledger]) => !isOver(ledger)).map(([log]) => sanitizeLine(log)).sort();
  const [log] = open;
  if (log === undefined) return well("runs", message("doctor.train.runs"));
  return amiss("warning", {
    id: "runs",
    what: message("doctor.train.runs.open", { names: open.join(", ") }),
    why: message("doctor.train.runs.why"),
    mend: message("doctor.train.runs.mend", { log }),
    command: `tias-remote train --log ${shellQuote(log)}`,
  });
}
