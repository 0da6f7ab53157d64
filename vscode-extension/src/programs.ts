/**
 * Which programs are ours to start: none that a workspace folder brings along.
 *
 * A PATH may name folders of the workspace (`node_modules/.bin`, `./bin`, an empty entry), also through links, and then
 * whoever prepared the folder decides what `python3` is. Such entries do not count here. Not aware of VS Code.
 */
import { accessSync, constants, existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import * as path from "node:path";

const MOST_LINKS = 40;

/** The absolute path of a program, or undefined. A name with a separator in it is taken as it is, if it is absolute. */
export function findProgram(name: string, search: string, workspace: readonly string[], platform: NodeJS.Platform = process.platform, home = homedir()): string | undefined {
  if (path.isAbsolute(name)) return name;
  if (name.includes("/") || name.includes(path.sep)) return undefined;
  // A folder that holds the home is the user's own, and so are the programs in it.
  const folders = workspace.flatMap((folder) => [path.normalize(folder), real(folder), repository(real(folder), home)]).filter((folder) => !under(home, folder));
  const endings = platform === "win32" ? [".exe", ".com"] : [""];
  for (const entry of search.split(path.delimiter)) {
    if (!path.isAbsolute(entry) || leadsInto(entry, folders)) continue;
    for (const ending of endings) {
      const found = path.join(entry, name + ending);
      if (runs(found) && !leadsInto(found, folders)) return found;
    }
  }
  return undefined;
}

/** The environment without the variables that tell Python where its modules are. */
export function withoutPython(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith("PYTHON")));
}

/** The git repository around a folder, which the same people prepared; or the folder. */
function repository(folder: string, home: string): string {
  for (let here = folder; !under(home, here); here = path.dirname(here)) {
    if (existsSync(path.join(here, ".git"))) return here;
    if (path.dirname(here) === here) break;
  }
  return folder;
}

function leadsInto(file: string, folders: readonly string[]): boolean {
  return names(file).some((name) => folders.some((folder) => under(name, folder)));
}

function under(file: string, folder: string): boolean {
  return file === folder || file.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}

/** Every name on the way to a file: a link inside the workspace can be turned elsewhere at any time. */
function names(file: string): string[] {
  const { root } = path.parse(file);
  const found = [path.normalize(file)];
  let here = root;
  const rest = parts(file.slice(root.length));
  for (let links = 0, part = rest.shift(); part !== undefined; part = rest.shift()) {
    here = path.join(here, part);
    found.push(here);
    const target = links < MOST_LINKS ? linked(here) : undefined;
    if (target === undefined) continue;
    links += 1;
    here = path.isAbsolute(target) ? path.parse(target).root : path.dirname(here);
    rest.unshift(...parts(path.isAbsolute(target) ? target.slice(here.length) : target));
  }
  return found;
}

function parts(file: string): string[] {
  return file.split(/[\\/]/).filter((part) => part !== "" && part !== ".");
}

function linked(file: string): string | undefined {
  try {
    return lstatSync(file).isSymbolicLink() ? readlinkSync(file) : undefined;
  } catch {
    return undefined;
  }
}

function real(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return path.normalize(folder);
  }
}

function runs(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
