import assert from "node:assert/strict";
import fc from "fast-check";
import { readTrainingLook } from "../../lib/rent/training_look.ts";

const transcript = (task: string, complete = true, status: number | null = 0) => ({
  sections: [{ name: "task", text: task, status }],
  complete,
  terminalForced: false,
});

Deno.test("readTrainingLook() takes a cut or strange answer for none", () => {
  const whole = "known=1\nrunning=1\n";
  assert.equal(readTrainingLook(transcript(whole))?.running, true);
  assert.equal(readTrainingLook(transcript(whole, false)), undefined);
  assert.equal(readTrainingLook(transcript(whole, true, null)), undefined);
  assert.equal(readTrainingLook(transcript("running=1\n")), undefined);
  assert.equal(readTrainingLook({ sections: [], complete: true, terminalForced: false }), undefined);
});

Deno.test("readTrainingLook() takes no number from what is none", () => {
  const look = readTrainingLook(
    transcript("known=1\ncode=0x1\nlog_age=-5\nlog_size=1e3\nbegan= 7\nid=../x\n"),
  );
  assert(look !== undefined);
  const { exitCode, logAgeSeconds, logSize, began, id } = look;
  assert.deepEqual({ exitCode, logAgeSeconds, logSize, began, id }, {
    exitCode: null,
    logAgeSeconds: null,
    logSize: 0,
    began: null,
    id: "",
  });
});

Deno.test("readTrainingLook() answers for any text", () => {
  fc.assert(fc.property(fc.string(), (text) => void readTrainingLook(transcript(`known=1\n${text}`))));
});
