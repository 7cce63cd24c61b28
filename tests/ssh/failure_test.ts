import assert from "node:assert/strict";
import fc from "fast-check";
import { type CallEnd, classifyFailure, isLocal } from "../../lib/ssh/failure.ts";

function failureOf(stderr: string, parts: Partial<CallEnd> = {}) {
  return classifyFailure({ code: 255, stderr, noise: "", begun: false, ...parts });
}

const changed = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n" +
  "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n" +
  "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n" +
  "IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!\nHost key verification failed.\n";

Deno.test.each([
  // Names and ways
  ["resolve", "ssh: Could not resolve hostname gpu01: Name or service not known\r\n"],
  ["resolve", "ssh: Could not resolve hostname gpu01: nodename nor servname provided, or not known\n"],
  ["resolve", "ssh: Could not resolve hostname gpu01: \\262\\273\\326\\252\\265\\300 \n"],
  [
    "resolve",
    "ssh: Could not resolve hostname labpc: Name or service not known\nConnection closed by UNKNOWN port 65535\n",
  ],
  ["resolve", "ssh: Could not resolve hostname gpu01: そのようなホストは不明です。\n"],
  ["refused", "ssh: connect to host 192.168.23.14 port 22: Connection refused\n"],
  [
    "refused",
    "channel 0: open failed: connect failed: Connection refused\nstdio forwarding failed\nConnection closed by UNKNOWN port 65535\n",
  ],
  ["no_route", "ssh: connect to host 192.168.23.14 port 22: No route to host\n"],
  ["no_route", "ssh: connect to host 192.168.23.14 port 22: Network is unreachable\n"],
  ["no_route", "ssh: connect to host 192.168.23.14 port 22: Host is down\n"],
  ["no_route", "channel 0: open failed: connect failed: No route to host\nstdio forwarding failed\n"],
  ["timeout", "ssh: connect to host 192.168.23.14 port 22: Connection timed out\n"],
  ["timeout", "ssh: connect to host 192.168.23.14 port 22: Operation timed out\n"],
  ["timeout", "Connection timed out during banner exchange\nConnection to UNKNOWN port 65535 timed out\n"],
  ["timeout", "Connection to 192.168.23.14 port 22 timed out\n"],
  ["timeout", "channel 0: open failed: connect failed: Connection timed out\nstdio forwarding failed\n"],
  [
    "jump_failed",
    "channel 0: open failed: administratively prohibited: open failed\nstdio forwarding failed\nkex_exchange_identification: Connection closed by remote host\n",
  ],
  ["jump_failed", "channel 0: open failed: unknown channel type: \nstdio forwarding failed\n"],
  // Keys
  ["host_key_unknown", "Host key verification failed.\n"],
  [
    "host_key_unknown",
    "No ED25519 host key is known for gpu01 and you have requested strict checking.\nHost key verification failed.\n",
  ],
  ["host_key_changed", changed],
  ["host_key_changed", changed.replaceAll("\n", "\r\n")],
  [
    "host_key_unsaved",
    "Could not create directory 'C:\\\\Users\\\\\\216\\223c/.ssh' (No such file or directory).\nFailed to add the host to the list of known hosts (C:\\\\Users\\\\\\216\\223c/.ssh/known_hosts).\nHost key verification failed.\n",
  ],
  // Logins
  ["authentication", "hasegawa@192.168.23.14: Permission denied (publickey).\n"],
  [
    "authentication",
    "hasegawa@192.168.23.14: Permission denied (publickey,password,keyboard-interactive).\r\n",
  ],
  ["authentication", "Received disconnect from 192.168.23.14 port 22:2: Too many authentication failures\n"],
  [
    "authentication",
    'Load key "/home/h/.ssh/id": bad permissions\nhasegawa@192.168.23.14: Permission denied (publickey).\n',
  ],
  [
    "slurm",
    "Access denied by pam_slurm_adopt: you have no active jobs on this node\nConnection closed by 192.0.2.20 port 22\n",
  ],
  [
    "password_expired",
    "WARNING: Your password has expired.\nPassword change required but no TTY available.\n",
  ],
  ["blocked", "kex_exchange_identification: read: Connection reset by peer\n"],
  [
    "blocked",
    "kex_exchange_identification: Connection closed by remote host\nConnection closed by 192.168.23.14 port 22\n",
  ],
  [
    "blocked",
    "debug1: kex_exchange_identification: banner line 0: Not allowed at this time\nConnection closed by 192.168.23.14\n",
  ],
  ["blocked", "Exceeded MaxStartups\n"],
  [
    "session_refused",
    "mux_client_request_session: session request failed: Session open refused by peer\nControlSocket /tmp/u/cm-x already exists, disabling multiplexing\n",
  ],
  ["closed", "Connection closed by 192.168.23.14 port 22\n"],
  ["closed", "Connection reset by 192.168.23.14 port 22\n"],
  ["closed", "Timeout, server 192.168.23.14 not responding.\n"],
  // This machine
  ["ssh_config", "Bad owner or permissions on C:\\\\Users\\\\user/.ssh/config\n"],
  [
    "ssh_config",
    "Can't open user config file C:\\\\Users\\\\\\216R\\223c\\\\cfg: No such file or directory\n",
  ],
  [
    "ssh_config",
    "/home/h/.ssh/config: line 3: Bad configuration option: hostnam\n/home/h/.ssh/config: terminating, 1 bad configuration options\n",
  ],
  ["ssh_too_old", "command-line: line 0: Bad configuration option: remotecommand\n"],
  ["proxy_jump_broken", "CreateProcessW failed error:2\nposix_spawnp: No such file or directory\n"],
  ["proxy_jump_broken", "CreateProcessW failed error:2\r\nposix_spawn: No such file or directory\r\n"],
  ["proxy_jump_broken", "posix_spawnp: No such file or directory\n"],
  ["unknown", "Unable to negotiate with 192.168.23.14 port 22: no matching key exchange method found.\n"],
  ["unknown", ""],
])("classifyFailure() finds %s in: %s", (kind, stderr) => {
  assert.equal(failureOf(stderr).kind, kind);
});

Deno.test.each([
  ["This account is currently not available.\n", 1, "This account is currently not available."],
  [
    "\nSystem is booting up. Unprivileged users are not permitted to log in yet. Please come back later.\n",
    255,
    "System is booting up. Unprivileged users are not permitted to log in yet. Please come back later.",
  ],
  ["\u001b[31mmaintenance\u001b[0m", 1, "\\x1b[31mmaintenance\\x1b[0m"],
])("classifyFailure() quotes a login that ends with a sentence of its own: %j", (noise, code, detail) => {
  assert.deepEqual(failureOf("", { noise, code }), { kind: "login_refused", detail });
});

Deno.test("classifyFailure() prefers ssh's own words to those of a login", () => {
  assert.equal(
    failureOf("Connection closed by 192.168.23.14 port 22\n", { noise: "Welcome!\n" }).kind,
    "closed",
  );
});

Deno.test("classifyFailure() finds nothing in notes and warnings that are no failure", () => {
  const notes = "** WARNING: connection is not using a post-quantum key exchange algorithm.\n" +
    '** This session may be vulnerable to "store now, decrypt later" attacks.\n' +
    "** The server may need to be upgraded. See https://openssh.com/pq.html\n";
  assert.deepEqual(failureOf(notes), { kind: "unknown", detail: "ssh: exit 255" });
  assert.equal(failureOf(`${notes}Host key verification failed.\n`).kind, "host_key_unknown");
});

Deno.test.each([
  [
    "the telling line",
    "a\nssh: connect to host x port 22: Connection refused\nb\n",
    "ssh: connect to host x port 22: Connection refused",
  ],
  [
    "the last line when the sign spans several",
    "Could not create directory 'x'\nHost key verification failed.\n",
    "Host key verification failed.",
  ],
  ["no control characters", "\u001b]0;x\u0007Connection refused\n", "\\x1b]0;x\\x07Connection refused"],
])("classifyFailure() quotes %s", (_what, stderr, detail) => {
  assert.equal(failureOf(stderr).detail, detail);
});

Deno.test("classifyFailure() tells the exit status when nobody said anything", () => {
  assert.deepEqual(failureOf("", { code: 255 }), { kind: "unknown", detail: "ssh: exit 255" });
  assert.deepEqual(failureOf("", { code: null }), { kind: "unknown", detail: "ssh: exit ?" });
});

Deno.test.each([
  ["interrupted", { ended: "interrupted" as const }],
  ["interrupted", { ended: "interrupted" as const, begun: true }],
  ["timeout", { ended: "deadline" as const }],
  ["silent", { ended: "deadline" as const, begun: true }],
  ["cut", { begun: true }],
])("classifyFailure() tells %s by who ended the connection, and when", (kind, parts) => {
  assert.equal(failureOf("", parts).kind, kind);
});

Deno.test("classifyFailure() keeps ssh's own reason when the deadline came behind it", () => {
  const stderr = "ssh: Could not resolve hostname gpu01: Name or service not known\n";
  assert.equal(failureOf(stderr, { ended: "deadline" }).kind, "resolve");
});

Deno.test("classifyFailure() looks at no phrases of what the server's programs said after the beginning", () => {
  assert.equal(failureOf("cat: x: Permission denied (really)\n", { begun: true }).kind, "cut");
});

Deno.test("classifyFailure() finds some reason in anything, and one line without control characters", () => {
  fc.assert(fc.property(
    fc.string({ unit: "binary" }),
    fc.string({ unit: "binary" }),
    fc.boolean(),
    fc.option(fc.integer()),
    (stderr, noise, begun, code) => {
      const { kind, detail } = classifyFailure({ stderr, noise, begun, code });
      assert.ok(kind.length > 0);
      // deno-lint-ignore no-control-regex
      assert.doesNotMatch(detail, /[\u0000-\u001f\u007f-\u009f]/);
    },
  ));
});

Deno.test.each(
  [
    ["ssh_config", true],
    ["ssh_too_old", true],
    ["host_key_unsaved", true],
    ["proxy_jump_broken", true],
    ["refused", false],
    ["host_key_changed", false],
    ["authentication", false],
  ] as const,
)("isLocal() of %s is %s", (kind, expected) => {
  assert.equal(isLocal({ kind, detail: "" }), expected);
});
