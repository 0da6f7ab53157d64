/**
 * Which program is the server: the one set, the one installed, or our own copy in a private environment.
 *
 * Pure decisions over a small view of the machine, so that every bad case has a unit test. Words for
 * people are made here: each failure says what is wrong and what to do next.
 */

export interface Machine {
  /** The full path of a program that no workspace folder brought along; undefined where there is none. */
  find(name: string): Promise<string | undefined>;
  /** Runs a program, by its full path, in a neutral folder; code null when it cannot be started. */
  run(command: string, args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
  exists(path: string): Promise<boolean>;
  /** Puts a folder in the place of another, which may not be there; false when someone else did it meanwhile. */
  replace(from: string, to: string): Promise<boolean>;
  remove(folder: string): Promise<void>;
  /** A word that no other process uses. */
  unique(): string;
  platform: NodeJS.Platform;
}

export interface ServerSettings {
  /** `assent.server.path` */
  path: string;
  /** `assent.server.python` */
  python: string;
}

export interface Bundle {
  /** The wheel inside the extension, or null in a development checkout without one. */
  wheel: string | null;
  /** Names the wheel's content; another stamp means install again. */
  stamp: string;
  /** The private environment's folder. */
  venv: string;
}

export interface ServerCommand {
  command: string;
  args: string[];
  origin: string;
}

export interface Failure {
  title: string;
  detail: string;
  next: "choosePython" | "openSettings" | "showLog";
}

export type Found = { kind: "ready"; server: ServerCommand } | { kind: "install"; python: string } | { kind: "failed"; failure: Failure };

export const OLDEST = [3, 11] as const;
const SERVE = ["serve", "--stdio"];
/** Isolated: neither the working directory nor a variable says where the modules of our Python are. */
const ISOLATED = ["-I", "-X", "utf8"];
const MODULE = [...ISOLATED, "-m", "assent.cli.main", ...SERVE];

export async function findServer(machine: Machine, settings: ServerSettings, bundle: Bundle): Promise<Found> {
  if (settings.path) {
    const program = await machine.find(settings.path);
    if (!program)
      return failed(`The server at ${settings.path} was not found`, "Set assent.server.path to a full path, or clear it to let Assent find its server.", "openSettings");
    const answer = await machine.run(program, ["--version"]);
    if (answer.code === 0) return ready(program, SERVE, "the setting assent.server.path");
    return failed(
      `The server at ${settings.path} does not start`,
      `${firstLine(answer.stderr) || "It could not be run."} Correct the setting assent.server.path, or clear it to let Assent find its server.`,
      "openSettings",
    );
  }
  if (settings.python) {
    const python = await machine.find(settings.python);
    const found = python && (await probe(machine, python));
    if (!found) return failed(`${settings.python} is not a Python interpreter`, "Correct the setting assent.server.python, or clear it to let Assent find one.", "openSettings");
    if (!newEnough(found.version)) return tooOld([`${settings.python} is Python ${found.version.join(".")}`]);
    if (found.server) return ready(python, MODULE, "the setting assent.server.python");
    return bundle.wheel
      ? installed(machine, bundle, python)
      : failed(`Assent is not installed for ${settings.python}`, `Run: ${settings.python} -m pip install assent-lsp`, "choosePython");
  }
  const onPath = await machine.find("assent");
  if (onPath && (await machine.run(onPath, ["--version"])).code === 0) return ready(onPath, SERVE, "your PATH");
  if (!bundle.wheel)
    return failed("The Assent server is not installed", "Install it with: pip install assent-lsp. Or set assent.server.python to an interpreter that has it.", "choosePython");
  return findPython(machine, bundle);
}

async function findPython(machine: Machine, bundle: Bundle): Promise<Found> {
  const old: string[] = [];
  for (const name of pythonNames(machine.platform)) {
    const python = await machine.find(name);
    const found = python && (await probe(machine, python));
    if (!found) continue;
    if (newEnough(found.version)) return installed(machine, bundle, python);
    old.push(`${name} is Python ${found.version.join(".")}`);
  }
  if (old.length > 0) return tooOld(old);
  return failed(
    "Assent needs Python, and none was found",
    `Install Python ${OLDEST.join(".")} or newer, then reload this window. If you have one already, choose it.`,
    "choosePython",
  );
}

/** Every interpreter on the PATH, each once, for people to choose from. */
export async function listPythons(machine: Machine): Promise<{ path: string; version: string; usable: boolean }[]> {
  const paths = await Promise.all(pythonNames(machine.platform).map((name) => machine.find(name)));
  const distinct = [...new Set(paths.filter((each) => each !== undefined))];
  const probed = await Promise.all(distinct.map(async (path) => ({ path, found: await probe(machine, path) })));
  return probed.flatMap(({ path, found }) => (found ? [{ path, version: found.version.join("."), usable: newEnough(found.version) }] : []));
}

/** Why this interpreter cannot be used; undefined when it can. */
export async function problemWith(machine: Machine, path: string): Promise<string | undefined> {
  const python = await machine.find(path);
  if (!python) return "Enter the full path of a Python interpreter.";
  const found = await probe(machine, python);
  if (!found) return `${path} is not a Python interpreter.`;
  return newEnough(found.version) ? undefined : `${path} is Python ${found.version.join(".")}. Assent needs Python ${OLDEST.join(".")} or newer.`;
}

async function installed(machine: Machine, bundle: Bundle, python: string): Promise<Found> {
  if (await isInstalled(machine, bundle)) return ready(venvPython(bundle.venv, machine.platform), MODULE, "Assent's own environment");
  return { kind: "install", python };
}

/**
 * Makes the private environment; throws with words for people.
 *
 * It is made beside its place and moved there when it is whole: two windows may do this at the same time, and a window
 * that is closed in the middle leaves nothing half made behind.
 */
export async function installServer(machine: Machine, bundle: Bundle, python: string, say: (text: string) => void): Promise<ServerCommand> {
  if (!bundle.wheel) throw new Error("This copy of the extension has no server in it.");
  const fresh = `${bundle.venv}-${machine.unique()}`;
  try {
    await makeEnvironment(machine, { ...bundle, wheel: bundle.wheel, venv: fresh }, python, say);
    if (!(await isInstalled(machine, bundle)) && !(await machine.replace(fresh, bundle.venv)) && !(await isInstalled(machine, bundle))) {
      throw new Error(`The environment could not be moved to ${bundle.venv}. Check the folder's permissions, then try again.`);
    }
  } finally {
    await machine.remove(fresh);
  }
  return { command: venvPython(bundle.venv, machine.platform), args: MODULE, origin: "Assent's own environment" };
}

async function makeEnvironment(machine: Machine, bundle: Bundle & { wheel: string }, python: string, say: (text: string) => void): Promise<void> {
  say("Creating a private Python environment");
  const made = await machine.run(python, [...ISOLATED, "-m", "venv", "--clear", bundle.venv]);
  if (made.code !== 0) {
    const hint = /ensurepip|venv/.test(made.stderr + made.stdout) ? " On Debian and Ubuntu: sudo apt install python3-venv." : "";
    throw new Error(`Python could not create an environment.${hint} ${lastLines(made.stderr || made.stdout)}`);
  }
  const own = venvPython(bundle.venv, machine.platform);
  say("Installing the Assent server into it");
  const answer = await machine.run(own, [...ISOLATED, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet", bundle.wheel]);
  if (answer.code !== 0) throw new Error(`pip could not install the server. Check the network or proxy, then try again. ${lastLines(answer.stderr)}`);
  if (!(await hasServer(machine, own))) throw new Error("The server was installed but does not start. See the log.");
  await machine.run(own, [...ISOLATED, "-c", `import pathlib,sys; pathlib.Path(sys.argv[1]).touch()`, `${bundle.venv}/${stampName(bundle)}`]);
}

async function isInstalled(machine: Machine, bundle: Bundle): Promise<boolean> {
  return (await machine.exists(`${bundle.venv}/${stampName(bundle)}`)) && (await hasServer(machine, venvPython(bundle.venv, machine.platform)));
}

export function venvPython(venv: string, platform: NodeJS.Platform): string {
  return platform === "win32" ? `${venv}\\Scripts\\python.exe` : `${venv}/bin/python`;
}

function stampName(bundle: Bundle): string {
  return `assent-lsp-${bundle.stamp}.installed`;
}

function pythonNames(platform: NodeJS.Platform): string[] {
  const numbered = ["python3.14", "python3.13", "python3.12", "python3.11"];
  return platform === "win32" ? ["python", "python3", "py"] : ["python3", ...numbered, "python"];
}

/** One start of the interpreter tells both: its version, and whether it has the server. */
const PROBE = "import sys; print('%d.%d' % sys.version_info[:2]); import importlib.util as u; print(bool(u.find_spec('assent') and u.find_spec('assent.cli.main')))";

async function probe(machine: Machine, python: string): Promise<{ version: number[]; server: boolean } | null> {
  const answer = await machine.run(python, [...ISOLATED, "-c", PROBE]);
  const match = /^(\d+)\.(\d+)/.exec(answer.stdout.trim());
  return match ? { version: [Number(match[1]), Number(match[2])], server: /True\s*$/.test(answer.stdout) } : null;
}

async function hasServer(machine: Machine, python: string): Promise<boolean> {
  return (await probe(machine, python))?.server ?? false;
}

function newEnough(version: number[]): boolean {
  const [major = 0, minor = 0] = version;
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

function ready(command: string, args: string[], origin: string): Found {
  return { kind: "ready", server: { command, args, origin } };
}

function failed(title: string, detail: string, next: Failure["next"]): Found {
  return { kind: "failed", failure: { title, detail, next } };
}

function tooOld(found: string[]): Found {
  return failed(`Assent needs Python ${OLDEST.join(".")} or newer`, `${found.join("; ")}. Install a newer one beside it, or choose one you have.`, "choosePython");
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-4).join(" ").slice(0, 600);
}
