import assert from "node:assert/strict";
import { test } from "node:test";
import { findServer, installServer, listPythons, problemWith, type Bundle, type Machine } from "../src/serverCommand";

interface World {
  pythons?: Record<string, string>;
  withServer?: string[];
  programs?: string[];
  files?: string[];
  pip?: number;
  venv?: number;
  /** Another window put an environment in our place meanwhile. */
  taken?: boolean;
}

/** A machine made of a few facts; every call is noted. */
function machine(world: World): Machine & { ran: string[] } {
  const ran: string[] = [];
  const ok = (stdout = ""): { code: number; stdout: string; stderr: string } => ({ code: 0, stdout, stderr: "" });
  const bad = (stderr: string): { code: number; stdout: string; stderr: string } => ({ code: 1, stdout: "", stderr });
  return {
    ran,
    platform: "linux",
    find: async (name) => (world.programs?.includes(name) || world.pythons?.[name] !== undefined ? name : undefined),
    exists: async (path) => world.files?.includes(path) ?? false,
    unique: () => "fresh",
    replace: async (from, to) => {
      ran.push(`move ${from} ${to}`);
      return !world.taken;
    },
    remove: async (folder) => void ran.push(`remove ${folder}`),
    run: async (command, given) => {
      ran.push([command, ...given].join(" "));
      const isolated = given.slice(0, 3).join(" ") === "-I -X utf8";
      const args = isolated ? given.slice(3) : given;
      assert.ok(isolated || args[0] === "--version", `${command} ${given.join(" ")} is not isolated`);
      if (args[0] === "--version") return world.programs?.includes(command) ? ok("assent 0.1.0") : { code: null, stdout: "", stderr: "not found" };
      const version = world.pythons?.[command];
      if (version === undefined) return { code: null, stdout: "", stderr: "not found" };
      if (args[1]?.startsWith("import sys")) return ok(`${version}\n${world.withServer?.includes(command) ? "True" : "False"}\n`);
      if (args[1] === "venv") return world.venv ? bad("ensurepip is not available") : ok();
      if (args[1] === "pip") return world.pip ? bad("no network") : ok();
      return ok();
    },
  };
}

const none = { path: "", python: "" };
const bundle: Bundle = { wheel: "/ext/server/assent_lsp.whl", stamp: "abc", venv: "/storage/server" };

test("the program that is set is used", async () => {
  const found = await findServer(machine({ programs: ["/opt/assent"] }), { path: "/opt/assent", python: "" }, bundle);
  assert.deepEqual(found, { kind: "ready", server: { command: "/opt/assent", args: ["serve", "--stdio"], origin: "the setting assent.server.path" } });
});

test("a program that is set and does not start is said, not worked around", async () => {
  const found = await findServer(machine({ pythons: { "/opt/assent": "no server at all" } }), { path: "/opt/assent", python: "" }, bundle);
  assert.equal(found.kind, "failed");
  assert.ok(found.kind === "failed" && found.failure.detail.includes("assent.server.path"));
});

test("a Python that has the server serves it", async () => {
  const found = await findServer(machine({ pythons: { "/v/python": "3.12" }, withServer: ["/v/python"] }), { path: "", python: "/v/python" }, bundle);
  assert.deepEqual(found.kind === "ready" && found.server.args, ["-I", "-X", "utf8", "-m", "assent.cli.main", "serve", "--stdio"]);
});

test("an installed server on the PATH comes before our own", async () => {
  const found = await findServer(machine({ programs: ["assent"], pythons: { python3: "3.12" } }), none, bundle);
  assert.equal(found.kind === "ready" && found.server.origin, "your PATH");
});

test("without a server our own is installed with the newest Python that will do", async () => {
  const found = await findServer(machine({ pythons: { python3: "3.9", "python3.12": "3.12" } }), none, bundle);
  assert.deepEqual(found, { kind: "install", python: "python3.12" });
});

test("our own environment is used again until the wheel changes", async () => {
  const world = {
    pythons: { python3: "3.11", "/storage/server/bin/python": "3.11" },
    withServer: ["/storage/server/bin/python"],
    files: ["/storage/server/assent-lsp-abc.installed"],
  };
  const found = await findServer(machine(world), none, bundle);
  assert.equal(found.kind === "ready" && found.server.command, "/storage/server/bin/python");
  assert.equal((await findServer(machine(world), none, { ...bundle, stamp: "new" })).kind, "install");
});

test("an environment that holds the server under its old name is made anew", async () => {
  const own = "/storage/server/bin/python";
  const world = { pythons: { python3: "3.11", [own]: "3.11" }, withServer: [own], files: [`/storage/server/${"assent"}-abc.installed`] };
  assert.deepEqual(await findServer(machine(world), none, bundle), { kind: "install", python: "python3" });
});

test("no Python at all is said with the next step", async () => {
  const found = await findServer(machine({}), none, bundle);
  assert.ok(found.kind === "failed" && /none was found/.test(found.failure.title) && /Install Python 3.11/.test(found.failure.detail));
});

test("an old Python is named with its version", async () => {
  const found = await findServer(machine({ pythons: { python3: "3.8" } }), none, bundle);
  assert.ok(found.kind === "failed" && /3\.11 or newer/.test(found.failure.title) && /python3 is Python 3\.8/.test(found.failure.detail));
});

const FRESH = "/storage/server-fresh";

test("installing makes an environment beside its place, installs the wheel, leaves a stamp and moves it there", async () => {
  const world = machine({ pythons: { python3: "3.12", [`${FRESH}/bin/python`]: "3.12" }, withServer: [`${FRESH}/bin/python`] });
  const server = await installServer(world, bundle, "python3", () => undefined);
  assert.equal(server.command, "/storage/server/bin/python");
  const steps = [
    "-m venv --clear /storage/server-fresh",
    "pip install",
    "/storage/server-fresh/assent-lsp-abc.installed",
    "move /storage/server-fresh /storage/server",
    "remove /storage/server-fresh",
  ];
  const places = steps.map((step) => world.ran.findIndex((line) => line.includes(step)));
  assert.ok(places.every((at) => at >= 0) && places.every((at, index) => index === 0 || at > (places[index - 1] ?? 0)), world.ran.join("\n"));
});

test("an environment that another window finished meanwhile is used, and ours is removed", async () => {
  const pythons = { python3: "3.12", [`${FRESH}/bin/python`]: "3.12", "/storage/server/bin/python": "3.12" };
  const world = machine({ pythons, withServer: Object.keys(pythons), files: ["/storage/server/assent-lsp-abc.installed"] });
  const server = await installServer(world, bundle, "python3", () => undefined);
  assert.equal(server.command, "/storage/server/bin/python");
  assert.deepEqual(
    world.ran.filter((line) => /^(move|remove)/.test(line)),
    ["remove /storage/server-fresh"],
  );
  const lost = machine({ pythons, withServer: [`${FRESH}/bin/python`], taken: true });
  await assert.rejects(
    installServer(lost, bundle, "python3", () => undefined),
    /could not be moved/,
  );
});

test("a failed installation says what to do and leaves nothing behind", async () => {
  const own = { python3: "3.12", [`${FRESH}/bin/python`]: "3.12" };
  const world = machine({ pythons: own, pip: 1 });
  await assert.rejects(
    installServer(world, bundle, "python3", () => undefined),
    /network or proxy/,
  );
  assert.ok(world.ran.includes("remove /storage/server-fresh"));
  await assert.rejects(
    installServer(machine({ pythons: own, venv: 1 }), bundle, "python3", () => undefined),
    /python3-venv/,
  );
});

test("interpreters on the PATH are offered once each, with their version and whether they will do", async () => {
  const world = machine({ pythons: { python3: "3.8", "python3.12": "3.12" } });
  const same: Machine = { ...world, find: async (name) => (name === "python" ? "python3" : world.find(name)) };
  assert.deepEqual(await listPythons(same), [
    { path: "python3", version: "3.8", usable: false },
    { path: "python3.12", version: "3.12", usable: true },
  ]);
});

test("a chosen interpreter is refused with the reason, and a good one is not", async () => {
  const world = machine({ pythons: { "/old": "3.8", "/good": "3.12", "/other": "hello" } });
  assert.match((await problemWith(world, "/old")) ?? "", /\/old is Python 3\.8\. Assent needs Python 3\.11 or newer/);
  assert.match((await problemWith(world, "/other")) ?? "", /not a Python interpreter/);
  assert.match((await problemWith(world, "relative/python")) ?? "", /full path/);
  assert.equal(await problemWith(world, "/good"), undefined);
});
