/** A Python that has the real `huggingface_hub`. */

const candidates = [Deno.env.get("TIAS_TEST_PYTHON") ?? "", "python3", "python"].filter((name) =>
  name !== ""
);

/** Its program, or `undefined`. `TIAS_TEST_PYTHON` names one that is not on the search path. */
export const pythonWithHub: string | undefined = candidates.find((program) => {
  try {
    return new Deno.Command(program, {
      args: ["-c", "import huggingface_hub"],
      stdin: "null",
      stderr: "null",
    })
      .outputSync().success;
  } catch {
    return false;
  }
});

/** The head of a test that needs it: ignored, with the reason in its name, where there is none. */
export function needingHubPython(name: string): { name: string; ignore: boolean } {
  return pythonWithHub === undefined
    ? { name: `${name} (ignored: no Python with huggingface_hub)`, ignore: true }
    : { name, ignore: false };
}
