/**
 * Loaded before every test file: property tests try the same inputs in every run, so that a red run can be repeated.
 * `TIAS_TEST_SEED=random deno task test` looks further.
 */
import fc from "fast-check";

if (Deno.env.get("TIAS_TEST_SEED") !== "random") fc.configureGlobal({ seed: 20_260_927 });
