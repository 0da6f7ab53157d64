import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hunk } from "../src/protocol";
import { chosenLines, draftsIn, isIn, lensTitle, oldLines, onlyWhitespace, openHunks, pendingHunks, preview, shiftRange, sides, withLines } from "../src/reviewModel";

const range = (startLine: number, startCharacter: number, endLine: number, endCharacter: number): Hunk["range"] => ({
  start: { line: startLine, character: startCharacter },
  end: { line: endLine, character: endCharacter },
});
const hunk = (more: Partial<Hunk> = {}): Hunk => ({ hunkId: "h1", range: range(2, 0, 4, 0), oldText: "a\nb\n", newText: "c\n", state: "pending", open: true, ...more });
const none = new Map<string, string>();

test("which hunks are open is the server's word: one that was changed by hand after it landed keeps its Undo", () => {
  const edited = hunk({ hunkId: "h2", state: "edited" });
  const proposal = {
    proposalId: "p",
    uri: "file:///a",
    version: 1,
    baseHash: "",
    tool: "Edit",
    reason: "",
    hunks: [hunk(), edited, hunk({ hunkId: "h3", state: "edited", open: false }), hunk({ hunkId: "h4", state: "rejected", open: false })],
  };
  assert.deepEqual(
    openHunks(proposal).map((each) => each.hunkId),
    ["h1", "h2"],
  );
  assert.deepEqual(
    pendingHunks(proposal).map((each) => each.hunkId),
    ["h1"],
  );
  assert.equal(isIn(edited), true);
});

test("a row over a hunk says in a few words what it would do, and shows no icon of the model's", () => {
  assert.equal(preview(hunk({ newText: "  speed = 2\n" })), "speed = 2");
  assert.equal(preview(hunk({ newText: "one\ntwo\n" })), "one (+1 more)");
  assert.equal(preview(hunk({ newText: "" })), "delete these 2 lines");
  assert.equal(preview(hunk({ newText: "", oldText: "a\n" })), "delete this line");
  assert.equal(lensTitle("$(check) Accept"), "$ (check) Accept");
  const long = lensTitle("word ".repeat(40));
  assert.ok(long.length <= 70 && long.endsWith("word…"), long);
  assert.deepEqual(oldLines(range(2, 0, 4, 0)), { first: 2, last: 3 });
  assert.equal(oldLines(range(2, 0, 2, 0)), null);
});

test("blanks alone are told apart from changes that are seen", () => {
  assert.equal(onlyWhitespace(hunk({ oldText: "if x:\n  y\n", newText: "if x:\n    y \n" })), true);
  assert.equal(onlyWhitespace(hunk({ oldText: "a b\n", newText: "ab\n" })), false);
});

test("typing above a hunk moves it, typing below or inside leaves it to the server", () => {
  const at = range(10, 0, 12, 0);
  assert.deepEqual(shiftRange(at, [{ range: range(2, 0, 2, 0), text: "x\ny\n" }]), range(12, 0, 14, 0));
  assert.deepEqual(shiftRange(at, [{ range: range(2, 0, 4, 0), text: "" }]), range(8, 0, 10, 0));
  assert.equal(shiftRange(at, [{ range: range(20, 0, 20, 0), text: "x\n" }]), at);
  assert.equal(shiftRange(at, [{ range: range(11, 0, 11, 3), text: "x\n" }]), at);
  assert.deepEqual(shiftRange(range(3, 8, 3, 9), [{ range: range(3, 2, 3, 4), text: "long" }]), range(3, 10, 3, 11));
});

// --- the two sides ----------------------------------------------------------------------------------

const LIVE = "zero\r\none\r\ntwo\r\nthree\r\n";
const first = hunk({ hunkId: "a", range: range(1, 0, 2, 0), oldText: "one\r\n", newText: "ONE\r\n" });
const added = hunk({ hunkId: "b", range: range(3, 0, 3, 0), oldText: "", newText: "new\r\n" });

test("the two sides are the file without and with its pending hunks, line ends and all", () => {
  const made = sides(LIVE, [added, first], none);
  assert.equal(made.before, LIVE);
  assert.equal(made.after, "zero\r\nONE\r\ntwo\r\nnew\r\nthree\r\n");
  assert.deepEqual(
    made.places.map(({ hunkId, start, end }) => [hunkId, made.after.slice(start, end)]),
    [
      ["a", "ONE\r\n"],
      ["b", "new\r\n"],
    ],
  );
});

test("what landed is taken back on the left, and what the user typed elsewhere stands on both sides", () => {
  const landed = hunk({ hunkId: "c", range: range(0, 0, 1, 0), oldText: "null\r\n", newText: "zero\r\n", state: "landed" });
  const made = sides(LIVE, [landed, first], none);
  assert.equal(made.before, `null\r\n${LIVE.slice(6)}`);
  assert.equal(made.after, LIVE.replace("one", "ONE"));
  assert.deepEqual(
    made.places.map((each) => each.hunkId),
    ["a"],
  );
});

test("a hunk whose old lines are not there, and one in conflict, are on neither side", () => {
  const elsewhere = hunk({ hunkId: "x", range: range(0, 0, 1, 0), oldText: "other\n", newText: "wrong\n" });
  const conflict = hunk({ hunkId: "y", range: range(3, 0, 4, 0), oldText: "three\r\n", newText: "3\r\n", state: "conflict" });
  assert.deepEqual(sides(LIVE, [elsewhere, conflict], none), { before: LIVE, after: LIVE, places: [] });
});

test("what is typed into proposed lines is a draft of that hunk, and typing anywhere else is not taken", () => {
  const made = sides(LIVE, [first, added], none);
  const type = (from: string, to: string): Map<string, string> | null => draftsIn(made, made.after.replace(from, to));
  assert.deepEqual(type("ONE", "ONE, by hand"), new Map([["a", "ONE, by hand\r\n"]]));
  assert.deepEqual(type("new\r\n", ""), new Map([["b", ""]]));
  assert.equal(type("two", "twice"), null);
  assert.equal(type("ONE\r\ntwo", "ONE two"), null, "a line that runs into the next one");
  // The workbench's own Revert may take the line end before the lines instead of the one after them.
  assert.deepEqual(type("\r\nnew", ""), new Map([["b", ""]]));
  assert.deepEqual(
    draftsIn(made, made.after.replace("ONE", "uno").replace("new", "nuevo")),
    new Map([
      ["a", "uno\r\n"],
      ["b", "nuevo\r\n"],
    ]),
  );
  const drafted = sides(LIVE, [first, added], new Map([["a", "uno\r\ndue\r\n"]]));
  assert.equal(drafted.after, "zero\r\nuno\r\ndue\r\ntwo\r\nnew\r\nthree\r\n");
});

// --- some lines of a hunk ---------------------------------------------------------------------------

const block = hunk({ oldText: "a = 1\nb = 2\nc = 3\n", newText: "a = 1.0\nb = 2.0\nc = 3.0\n" });

test("of a hunk with as many lines as before, each chosen line takes the place of its own", () => {
  const chosen = chosenLines(block, "new", 1, 1);
  assert.deepEqual(chosen, { old: [[1, 2]], new: [[1, 2]] });
  assert.equal(withLines(block, chosen), "a = 1\nb = 2.0\nc = 3\n");
  assert.equal(withLines(block, chosenLines(block, "new", 0, 2)), block.newText);
});

test("of a hunk that grows, the chosen lines take the place of what they replace; lines in common stay", () => {
  const grows = hunk({ oldText: "def f():\n    return x\n", newText: "def f():\n    if not x:\n        return 0\n    return x\n" });
  assert.equal(withLines(grows, chosenLines(grows, "new", 1, 1)), "def f():\n    if not x:\n    return x\n");
  const rewritten = hunk({ oldText: "one\ntwo\n", newText: "uno\ndue\ntre\n" });
  assert.deepEqual(chosenLines(rewritten, "new", 2, 2), { old: [[0, 2]], new: [[2, 3]] });
  assert.equal(withLines(rewritten, chosenLines(rewritten, "new", 2, 2)), "tre\n");
});

test("lines chosen on the old side are removed, and nothing comes", () => {
  const chosen = chosenLines(block, "old", 0, 1);
  assert.deepEqual(chosen, { old: [[0, 2]], new: [] });
  assert.equal(withLines(block, chosen), "c = 3\n");
  assert.deepEqual(chosenLines(block, "new", 7, 9), { old: [], new: [] });
});
