import type { Context } from "./context.ts";

/** 32 hexadecimal digits that nobody can guess. */
export function randomToken(world: Pick<Context, "random">): string {
  return Array.from(world.random(16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
