import assert from "node:assert/strict";
import { test } from "node:test";
import { Notices } from "../src/notices";

function sight(changes: { focused?: boolean; shown?: string[]; unwanted?: string[] } = {}): { notices: Notices; said: string[]; world: Required<typeof changes> } {
  const world = { focused: true, shown: [] as string[], unwanted: [] as string[], ...changes };
  const said: string[] = [];
  const notices = new Notices({
    focused: () => world.focused,
    shown: (sessionId) => world.shown.includes(sessionId),
    wanted: (what) => !world.unwanted.includes(what),
    say: (text, sessionId) => void said.push(`${sessionId}: ${text}`),
  });
  return { notices, said, world };
}
const ask = { id: "a1", sessionId: "s1", text: "Assent asks: run ls" };

test("someone who has the question before their eyes is not told of it", () => {
  const { notices, said, world } = sight({ shown: ["s1"] });
  notices.waiting([ask]);
  assert.deepEqual(said, []);
  world.shown = []; // until they look elsewhere
  notices.waiting([ask]);
  notices.waiting([ask]);
  assert.deepEqual(said, ["s1: Assent asks: run ls"]);
});

test("a question in a chat that is not shown, or in a window without the focus, is told", () => {
  const hidden = sight({ shown: ["s2"] });
  hidden.notices.waiting([ask]);
  assert.deepEqual(hidden.said, ["s1: Assent asks: run ls"]);
  const away = sight({ focused: false, shown: ["s1"] });
  away.notices.waiting([ask]);
  assert.deepEqual(away.said, ["s1: Assent asks: run ls"]);
});

test("a question is told once, however often something else comes and goes, and again when it is put once more", () => {
  const { notices, said } = sight({ focused: false });
  notices.waiting([ask]);
  notices.waiting([ask, { ...ask, id: "a2", text: "Assent asks: run rm" }]);
  notices.waiting([ask]);
  assert.deepEqual(said, ["s1: Assent asks: run ls", "s1: Assent asks: run rm"]);
  notices.waiting([]);
  notices.waiting([ask]);
  assert.equal(said.length, 3);
});

test("the end of a turn is told to who is in another window only", () => {
  const { notices, said, world } = sight();
  notices.finished("s1", "Fix it", false);
  assert.deepEqual(said, []);
  world.focused = false;
  notices.finished("s1", "Fix it", false);
  notices.finished("s1", "", true);
  assert.deepEqual(said, ["s1: Assent has finished “Fix it”.", "s1: Assent stopped with a problem."]);
});

test("nothing is told that the user does not want to hear, and long words are cut to one line", () => {
  const quiet = sight({ focused: false, unwanted: ["waiting", "finished"] });
  quiet.notices.waiting([ask]);
  quiet.notices.finished("s1", "", false);
  assert.deepEqual(quiet.said, []);
  const long = sight({ focused: false });
  long.notices.waiting([{ ...ask, text: `Assent asks:\n${"x ".repeat(300)}` }]);
  assert.ok(long.said[0] && long.said[0].length < 170 && !long.said[0].includes("\n"));
});
