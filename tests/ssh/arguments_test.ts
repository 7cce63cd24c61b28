import assert from "node:assert/strict";
import { temporaryFolder, writePrograms } from "../shell.ts";
import { sshArguments, sshProgram, type SshSettings } from "../../lib/ssh/arguments.ts";
import { attachCommand } from "../../lib/ssh/by_hand.ts";

const direct: SshSettings = { jump_host: null, connect_timeout_sec: 15 };
const newton = { user: "hasegawa", address: "192.168.23.14" };

Deno.test("sshArguments() builds the whole command line through a jump host", () => {
  assert.deepEqual(
    sshArguments(
      { jump_host: "labpc", connect_timeout_sec: 15, ssh_config: "/p/ssh" },
      newton,
      "exec sh",
      "linux",
    ),
    [
      ...["-F", "/p/ssh", "-T", "-J", "labpc"],
      ...["-o", "BatchMode=yes", "-o", "ConnectTimeout=15"],
      ...["-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3"],
      ...["-o", "RequestTTY=no", "-o", "RemoteCommand=none", "-o", "ClearAllForwardings=yes"],
      ...["-o", "ControlMaster=no"],
      ...["hasegawa@192.168.23.14", "exec sh"],
    ],
  );
});

Deno.test.each([["linux"], ["darwin"], ["windows"]])("sshArguments() never lets ssh ask, on %s", (os) => {
  const args = sshArguments(direct, newton, "exec sh", os);
  for (const option of ["BatchMode=yes", "ConnectTimeout=15", "RequestTTY=no", "RemoteCommand=none"]) {
    assert.equal(args[args.indexOf(option) - 1], "-o", option);
  }
});

Deno.test("sshArguments() connects directly without a jump host, and without -F to the user's own file", () => {
  const args = sshArguments(direct, newton, "exec sh", "linux");
  assert.equal(args.includes("-J"), false);
  assert.equal(args.includes("-F"), false);
  assert.deepEqual(args.slice(-2), ["hasegawa@192.168.23.14", "exec sh"]);
});

Deno.test("sshArguments() hands over the configured time limit", () => {
  assert.ok(
    sshArguments({ ...direct, connect_timeout_sec: 3 }, newton, "x", "linux").includes("ConnectTimeout=3"),
  );
});

Deno.test.each([["windows", true], ["linux", false], ["darwin", false]])(
  "sshArguments() on %s switches a ControlPath off: %s",
  (os, expected) => {
    assert.equal(sshArguments(direct, newton, "x", os).includes("ControlPath=none"), expected);
  },
);

Deno.test.each([
  [undefined, "linux", "ssh"],
  [undefined, "darwin", "ssh"],
  [undefined, "windows", "C:\\Windows\\System32\\OpenSSH\\ssh.exe"],
  ["", "windows", "C:\\Windows\\System32\\OpenSSH\\ssh.exe"],
  ["", "linux", "ssh"],
  ["/opt/ssh", "linux", "/opt/ssh"],
  ["C:\\tools\\ssh.exe", "windows", "C:\\tools\\ssh.exe"],
])("sshProgram() takes TIAS_REMOTE_SSH=%s on %s for %s", (override, os, expected) => {
  assert.equal(sshProgram(override, os), expected);
});

Deno.test.each([
  [direct, `ssh -t hasegawa@192.168.23.14 "tmux -L tias-remote attach -t '=exp1'"`],
  [
    { ...direct, jump_host: "labpc" },
    `ssh -J labpc -t hasegawa@192.168.23.14 "tmux -L tias-remote attach -t '=exp1'"`,
  ],
  [
    { ...direct, ssh_config: "/home/山田 太郎/ssh" },
    `ssh -F '/home/山田 太郎/ssh' -t hasegawa@192.168.23.14 "tmux -L tias-remote attach -t '=exp1'"`,
  ],
])("attachCommand() names everything that the attaching ssh needs", (settings, expected) => {
  assert.equal(attachCommand(settings, newton, "tias-remote", "exp1"), expected);
});

Deno.test.each([["sh"], ["bash"], ["zsh"], ["fish"]])(
  "attachCommand() names the job exactly, whether the server's login shell is %s or another",
  async (shell) => {
    if (!await isInstalled(shell)) return;
    await using folder = await temporaryFolder();
    await writePrograms(folder.path, { tmux: 'printf "<%s>" "$@"' });
    const [, remote = ""] = /"(.*)"$/.exec(attachCommand(direct, newton, "tias-remote", "exp1")) ?? [];
    const { stdout } = await new Deno.Command(shell, {
      args: ["-c", remote],
      env: { PATH: `${folder.path}:${Deno.env.get("PATH")}` },
    }).output();
    assert.equal(new TextDecoder().decode(stdout), "<-L><tias-remote><attach><-t><=exp1>");
  },
);

async function isInstalled(shell: string): Promise<boolean> {
  try {
    return (await new Deno.Command(shell, { args: ["-c", "true"] }).output()).success;
  } catch {
    return false;
  }
}
