import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { findProgram, withoutPython } from "../src/programs";

let root = "";
let workspace = "";
let tools = "";

before(() => {
  root = mkdtempSync(path.join(tmpdir(), "assent-programs-"));
  workspace = path.join(root, "workspace");
  tools = path.join(root, "tools");
  for (const folder of [path.join(workspace, "bin"), tools]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, "assent"), "#!/bin/sh\n", { mode: 0o755 });
  }
  symlinkSync(path.join(workspace, "bin"), path.join(root, "link-in"));
  symlinkSync(workspace, path.join(root, "opened-as"));
  symlinkSync(tools, path.join(workspace, "link-out"));
  symlinkSync(path.join(workspace, "link-out"), path.join(root, "link-through"));
  symlinkSync("workspace/bin", path.join(root, "relative-link"));
});
after(() => rmSync(root, { recursive: true }));

test("a program on the PATH is found by its full path", () => {
  assert.equal(findProgram("assent", `/nonexistent:${tools}`, [workspace]), path.join(tools, "assent"));
  assert.equal(findProgram("nothing", tools, [workspace]), undefined);
});

test("no entry of the PATH that leads into the workspace or through it counts", () => {
  const entries = [
    "",
    ".",
    "bin",
    "./bin",
    "../workspace/bin",
    `${workspace}/bin`,
    `${workspace}//bin/`,
    `${workspace}/bin/../bin`,
    `${root}/link-in`,
    `${root}/opened-as/bin`,
    `${workspace}/link-out`,
    `${root}/link-through`,
    `${root}/relative-link`,
  ];
  for (const entry of entries) {
    assert.equal(findProgram("assent", entry, [workspace]), undefined, entry);
    assert.equal(findProgram("assent", `${entry}:${tools}`, [workspace]), path.join(tools, "assent"), entry);
    assert.equal(findProgram("assent", entry, [path.join(root, "opened-as")]), undefined, `${entry}, the workspace opened by a link`);
  }
});

test("a program outside that is a link into the workspace does not count", () => {
  symlinkSync(path.join(workspace, "bin", "assent"), path.join(tools, "python3"));
  assert.equal(findProgram("python3", tools, [workspace]), undefined);
  assert.equal(findProgram("python3", tools, []), path.join(tools, "python3"));
});

test("a workspace that holds the home is the user's own", () => {
  assert.equal(findProgram("assent", tools, [root], "linux", path.join(root, "home")), path.join(tools, "assent"));
  assert.equal(findProgram("assent", tools, [root], "linux", "/home/someone"), undefined);
});

test("a path that is set is taken as it is, and a relative one not at all", () => {
  assert.equal(findProgram("/opt/assent", "", [workspace]), "/opt/assent");
  assert.equal(findProgram("bin/assent", tools, []), undefined);
});

test("no variable tells our Python where its modules are", () => {
  assert.deepEqual(withoutPython({ PATH: "/bin", PYTHONPATH: ".", PYTHONHOME: "x", PYTHONSTARTUP: "y", HOME: "/h" }), { PATH: "/bin", HOME: "/h" });
});

test("a workspace inside a repository is kept out with the whole of it, unless that holds the home", () => {
  const inner = path.join(workspace, "packages", "one");
  mkdirSync(inner, { recursive: true });
  const entry = path.join(workspace, "bin");
  assert.equal(findProgram("assent", entry, [inner], "linux", root), path.join(entry, "assent"));
  writeFileSync(path.join(workspace, ".git"), "gitdir: elsewhere\n");
  assert.equal(findProgram("assent", `${entry}:${tools}`, [inner], "linux", "/home/somebody"), path.join(tools, "assent"));
  assert.equal(findProgram("assent", entry, [inner], "linux", path.join(workspace, "packages")), path.join(entry, "assent"));
  rmSync(path.join(workspace, ".git"));
});
