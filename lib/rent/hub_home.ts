import type { TrainConfig } from "../config/train.ts";
import { compareWithHub, isSame } from "../hub/compare.ts";
import { hubFetch, type HubWorld } from "../hub/http.ts";
import { differenceMessage } from "../hub/messages.ts";
import { listAt, repositoryState } from "../hub/repository.ts";
import { hubSource } from "../hub/source.ts";
import type { HubAccess } from "../hub/types.ts";
import { UserError } from "../system/errors.ts";
import type { Texts } from "../text/texts.ts";
import type { Done } from "./event.ts";
import type { HubSide } from "./perform.ts";
import { bringHome } from "./bring_home.ts";

/** The Hub as a run needs it: is what was uploaded what the Pod has, and how does it come home. */
export function hubSide(
  world: HubWorld,
  texts: Texts,
  plan: {
    readonly recipe: TrainConfig;
    readonly access: HubAccess;
    readonly localDir: string;
    /** The Pod's full name. */
    readonly by: string;
  },
): HubSide {
  const { access, localDir, by } = plan;
  const repo = plan.recipe.hub.repository;
  const fetch = hubFetch(world, access);
  return {
    async compare(step, files, commit): Promise<Done<null>> {
      try {
        const state = await repositoryState(access, fetch, repo);
        if (state.kind !== "private") {
          return { ok: false, detail: texts.say("hub.upload.not_private", { repo }), retry: false };
        }
        const differences = compareWithHub(
          files,
          await listAt(access, fetch, { repo, folder: String(step) }, commit),
        );
        if (files.length > 0 && isSame(differences)) return { ok: true, value: null };
        return { ok: false, detail: texts.sentence(differenceMessage(repo, differences)), retry: false };
      } catch (fault) {
        if (!(fault instanceof UserError)) throw fault;
        return { ok: false, detail: texts.sentence(fault.text), retry: true };
      }
    },
    download: (step, files, commit, signal) =>
      bringHome(
        world,
        texts,
        hubSource(access, fetch, { repo, folder: String(step) }, commit),
        { localDir, step, files, by },
        signal,
      ),
  };
}
