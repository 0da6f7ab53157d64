--- `:Assent hooks`, `skills`, `memory` and `plugins`: what files define, with the file behind each.
local notice = require("assent.notice")
local protocol = require("assent.protocol")
local session_store = require("assent.session")
local view = require("assent.view")

---@param text string?
---@return string[]
local function lines_of(text)
  return text and text ~= "" and vim.split(text, "\n", { plain = true }) or {}
end

---@param hook assent.wire.HookInfo
---@return assent.Row
local function hook_row(hook)
  local matcher = hook.matcher ~= "" and hook.matcher or "*"
  return {
    text = ("%-18s %-12s %-8s %s"):format(hook.event, matcher, hook.type, hook.command),
    more = hook.withheld and { hook.withheld } or nil,
    folded = { hook.source },
    file = view.path_of(hook.source),
    dim = not hook.active,
    data = hook,
  }
end

--- The runs of this session's hooks, the newest first.
local function runs()
  local id = session_store.current
  if not id then
    return notice.tell("no conversation is open; hooks run in one")
  end
  view.show({
    name = "hook runs",
    empty = "No hook has run in this conversation.",
    load = function(done)
      view.request(protocol.requests.hook_log, { sessionId = id }, function(result)
        done(vim.tbl_map(function(run)
          local words = ("%-18s %-8s %5d ms  %s"):format(run.event, run.outcome, run.durationMs, run.command or "")
          local said = lines_of(run.text)
          vim.list_extend(said, lines_of(run.stdout))
          vim.list_extend(said, lines_of(run.stderr))
          return { text = words, folded = said, file = view.path_of(run.source), data = run }
        end, result.runs))
      end)
    end,
    keys = {},
  })
end

---@param skill assent.wire.SkillInfo
---@return assent.Row
local function skill_row(skill)
  return {
    text = ("%-24s %6d tokens  %s"):format(skill.name, skill.tokens, lines_of(skill.description)[1] or ""),
    more = skill.withheld and { skill.withheld } or nil,
    folded = { skill.source },
    file = view.path_of(skill.source),
    dim = skill.withheld ~= nil,
    data = skill,
  }
end

---@param file assent.wire.MemoryFile
---@return assent.Row
local function memory_row(file)
  local path = vim.fn.fnamemodify(file.path, ":~:.")
  return {
    text = ("%-36s %-8s %-8s %6d tokens  %s"):format(path, file.kind, file.scope, file.tokens, file.reason),
    file = file.path,
    data = file,
  }
end

---@param plugin assent.wire.PluginInfo
---@return assent.Row
local function plugin_row(plugin)
  local state = plugin.enabled and "on" or "off"
  return {
    text = ("%-3s %-24s %-10s %s"):format(state, plugin.name, plugin.version, table.concat(plugin.parts, ", ")),
    more = plugin.withheld and { plugin.withheld } or plugin.problems,
    folded = { plugin.source },
    file = view.path_of(plugin.source),
    dim = not plugin.enabled,
    data = plugin,
  }
end

---@param name string
---@param method string
---@param field string
---@param row fun(item: table): assent.Row
---@param empty string
---@param always table<string, table>?
---@return assent.View
local function listing(name, method, field, row, empty, always)
  return {
    name = name,
    empty = empty,
    load = function(done)
      view.request(protocol.requests[method], view.about(), function(result)
        done(vim.tbl_map(row, result[field]))
      end)
    end,
    keys = {},
    always = always,
  }
end

return {
  hooks = listing("hooks", "hook_list", "hooks", hook_row, "No hooks are configured here.", {
    l = { label = "runs", run = runs },
  }),
  skills = listing("skills", "skill_list", "skills", skill_row, "No skills were found."),
  memory = listing("memory", "memory_list", "files", memory_row, "No instruction files were found."),
  plugins = listing("plugins", "plugin_list", "plugins", plugin_row, "No plugins are installed."),
}
