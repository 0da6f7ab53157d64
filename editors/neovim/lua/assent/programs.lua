--- Which programs are ours to start: none that a project brings along.
---
--- A PATH may name folders of the project (`./bin`, `node_modules/.bin`, an empty entry), also through links, and then
--- whoever prepared the project decides what `assent` is. Such entries do not count here.
local M = {}

local WINDOWS = vim.fn.has("win32") == 1
local MOST_LINKS = 40

--- A working directory for our own programs: nobody's project.
M.NEUTRAL = WINDOWS and (vim.env.SystemRoot or "C:\\") or "/"

---@param path string
---@param folder string
local function under(path, folder)
  return path == folder or vim.startswith(path, vim.endswith(folder, "/") and folder or folder .. "/")
end

--- Every name on the way to a file: a link inside the project can be turned elsewhere at any time.
---@param path string absolute
---@return string[]
local function names(path)
  local found = { vim.fs.normalize(path) }
  local here, rest, links = "", vim.split(path, "/", { trimempty = true }), 0
  while #rest > 0 do
    local part = table.remove(rest, 1)
    if part == ".." then
      here = here:match("^(.*)/[^/]*$") or ""
    elseif part ~= "." and part ~= "" then
      local next_one = here .. "/" .. part
      table.insert(found, next_one)
      local target = links < MOST_LINKS and vim.uv.fs_readlink(next_one) or nil
      if target then
        links = links + 1
        here = vim.startswith(target, "/") and "" or here
        rest = vim.list_extend(vim.split(target, "/", { trimempty = true }), rest)
      else
        here = next_one
      end
    end
  end
  return found
end

--- The project folders whose programs do not count. The home, and what holds it, is the user's own.
---@param folders string[]
---@return string[]
local function foreign(folders)
  local home = vim.fs.normalize(vim.uv.os_homedir() or "~")
  local found = {}
  for _, folder in ipairs(folders) do
    for _, name in ipairs({ vim.fs.normalize(folder), vim.uv.fs_realpath(folder) or folder }) do
      if not under(home, name) then
        table.insert(found, name)
      end
    end
  end
  return found
end

---@param path string
---@param folders string[]
local function leads_into(path, folders)
  for _, name in ipairs(names(path)) do
    for _, folder in ipairs(folders) do
      if under(name, folder) then
        return true
      end
    end
  end
  return false
end

--- The full path of a program, found outside the given folders; nil where there is none.
---@param name string a name, or a full path, which is taken as it is
---@param folders string[]
---@return string?
function M.find(name, folders)
  if WINDOWS then
    local found = vim.fn.exepath(name)
    return found ~= "" and found or nil
  end
  if name:find("/", 1, true) then
    local full = vim.fn.expand(name)
    return vim.startswith(full, "/") and vim.fn.executable(full) == 1 and full or nil
  end
  local outside = foreign(folders)
  for _, entry in ipairs(vim.split(vim.env.PATH or "", ":", { plain = true })) do
    local full = entry .. "/" .. name
    if vim.startswith(entry, "/") and vim.fn.executable(full) == 1 and not leads_into(full, outside) then
      return full
    end
  end
  return nil
end

--- Variables for a Python program of ours: none tells it where its modules are. An empty one counts as unset.
---@param given? table<string, string> what else is to be set
---@return table<string, string>
function M.environment(given)
  local env = {}
  for name in pairs(vim.fn.environ()) do
    if vim.startswith(name:upper(), "PYTHON") then
      env[name] = ""
    end
  end
  return vim.tbl_extend("force", env, given or {})
end

return M
