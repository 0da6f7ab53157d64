import assert from "node:assert/strict";
import { mock, test } from "node:test";
import type { Action } from "../shared/items";
import { ActionBatch } from "../src/actionBatch";
import { Notices } from "../src/notices";
import { messageWords, rowWords } from "../src/plainWords";

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

test("what went on without a window is told with its own sentence, a few at most, and nothing that is on the screen", () => {
  const { notices, said } = sight({ shown: ["s1"] });
  const all = ["s1", "s2", "s3", "s4", "s5"].map((sessionId) => ({ sessionId, text: `“${sessionId}” waits.` }));
  notices.missed(all);
  assert.deepEqual(said, ["s2: “s2” waits.", "s3: “s3” waits.", "s4: “s4” waits."]);
  const quiet = sight({ unwanted: ["waiting"] });
  quiet.notices.missed(all);
  assert.deepEqual(quiet.said, []);
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

test("words of others make no link in a notification and no icon in a list", () => {
  assert.equal(messageWords("Run [all is well](command:workbench.action.quit)"), "Run [all is well] (command:workbench.action.quit)");
  assert.doesNotMatch(rowWords("echo $(whoami) $(trash)"), /\$\(/);
  assert.equal(rowWords("echo $(whoami)").replaceAll("\u2060", ""), "echo $(whoami)", "what one sees is the command");
});

test("hunks that move at every key are told to the views once the typing pauses, or along with something else", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const sent: Action[][] = [];
    const batch = new ActionBatch((actions) => void sent.push(actions));
    const moved: Action = { type: "event", params: { sessionId: "s", seq: 1, event: { type: "editMoved", proposalId: "p", version: 2, hunks: [] } } };
    const notice: Action = { type: "notice", level: "info", text: "seen" };
    for (let key = 0; key < 100; key += 1) {
      batch.add(moved);
      mock.timers.tick(40);
    }
    assert.equal(sent.length, 0, "four seconds of typing send nothing");
    mock.timers.tick(1000);
    assert.deepEqual(
      sent.map((actions) => actions.length),
      [100],
    );
    batch.add(moved);
    batch.add(notice);
    batch.add(moved);
    mock.timers.tick(16);
    assert.deepEqual(sent.at(-1), [moved, notice, moved], "what has to be seen does not wait, and the order is kept");
  } finally {
    mock.timers.reset();
  }
});
