import assert from "node:assert/strict";
import { sshFinding } from "../../lib/doctor/here_findings.ts";
import type { Level } from "../../lib/doctor/types.ts";
import { textsIn } from "../../lib/text/texts.ts";

const versions: readonly (readonly [said: string, Level, en: RegExp, ja: RegExp])[] = [
  ["OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.19 27 Jan 2026\n", "ok", /^ssh: OpenSSH_9\.2p1/, /^ssh は /],
  [
    "OpenSSH_for_Windows_9.5p1, LibreSSL 3.8.2\r\n",
    "ok",
    /Windows_9\.5p1, LibreSSL 3\.8\.2$/,
    /Windows_9\.5p1/,
  ],
  ["OpenSSH_10.0p2, OpenSSL 3.5.1\n", "ok", /OpenSSH_10\.0/, /OpenSSH_10\.0/],
  ["OpenSSH_7.6p1\n", "ok", /7\.6p1/, /7\.6p1/],
  ["OpenSSH_7.5p1\n", "problem", /too old: OpenSSH_7\.5p1/, /古すぎます/],
  ["OpenSSH_6.9p1\n", "problem", /too old/, /古すぎます/],
  ["warning first\nOpenSSH_9.9p2\n", "ok", /OpenSSH_9\.9p2$/, /OpenSSH_9\.9p2/],
  ["Dropbear v2022.83\n", "warning", /could not be understood/, /解釈できません/],
  ["", "warning", /could not be understood/, /解釈できません/],
];

Deno.test.each(versions)("sshFinding() reads %j", (said, level, en, ja) => {
  const finding = sshFinding(said);
  assert.equal(finding.level, level);
  assert.match(textsIn("en").sentence(finding.what), en);
  assert.match(textsIn("ja").sentence(finding.what), ja);
  assert.equal(finding.why === null, level === "ok");
});
