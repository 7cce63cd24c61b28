/** Keys of a laboratory, from the real ssh-keygen. */

/** Makes an ed25519 key pair: `file` and `file.pub`. */
export async function generateKey(file: string): Promise<void> {
  const { success, stderr } = await new Deno.Command("ssh-keygen", {
    args: ["-q", "-t", "ed25519", "-N", "", "-C", "laboratory", "-f", file],
    stdin: "null",
  }).output();
  if (!success) throw new Error(`Cannot make a key: ${new TextDecoder().decode(stderr)}`);
}
