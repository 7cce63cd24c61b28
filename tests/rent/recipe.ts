import { parseConfig } from "../../lib/config/document.ts";
import { type TrainConfig, trainSchema } from "../../lib/config/train.ts";

/** The shipped example, with whatever a test needs to be different. */
export async function exampleRecipe(changes: Partial<TrainConfig> = {}): Promise<TrainConfig> {
  const file = new URL("../../configs/train.yaml", import.meta.url);
  return { ...parseConfig(await Deno.readTextFile(file), "configs/train.yaml", trainSchema), ...changes };
}
