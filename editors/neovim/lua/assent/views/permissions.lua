--- `:Assent permissions`: every rule with the file it stands in, to be added and removed.
local client = require("assent.client")
local protocol = require("assent.protocol")
local view = require("assent.view")

---@param rule assent.wire.RuleInfo
---@return assent.Row
local function row(rule)
  return {
    text = ("%-5s %-40s %s"):format(rule.behaviour, rule.rule, rule.scope),
    more = rule.withheld and { rule.withheld } or nil,
    folded = { rule.file },
    file = rule.file,
    dim = rule.withheld ~= nil,
    data = rule,
  }
end

---@param change table
---@param shown assent.View
local function edit(change, shown)
  local about = view.about()
  local params = vim.tbl_extend("force", { cwd = about.cwd or client.root(), sessionId = about.sessionId }, change)
  view.request(protocol.requests.permission_edit_rules, params, function()
    view.refresh(shown)
  end)
end

---@param shown assent.View
local function add(shown)
  vim.ui.input({ prompt = "Rule, such as Bash(make test): " }, function(rule)
    if not rule or vim.trim(rule) == "" then
      return
    end
    vim.ui.select({ "deny", "ask", "allow" }, { prompt = rule }, function(behaviour)
      if not behaviour then
        return
      end
      local scopes = { "session", "local", "project", "user" }
      vim.ui.select(scopes, { prompt = ("%s %s: where"):format(behaviour, rule) }, function(scope)
        if scope then
          edit({ add = { { rule = vim.trim(rule), behaviour = behaviour, scope = scope } } }, shown)
        end
      end)
    end)
  end)
end

return {
  name = "permissions",
  empty = "No rules: everything that changes something is asked. + adds one.",
  load = function(done)
    view.request(protocol.requests.permission_rules, view.about(), function(result)
      done(vim.tbl_map(row, result.rules))
    end)
  end,
  always = { ["+"] = { label = "add", run = add } },
  keys = {
    d = {
      label = "remove",
      run = function(at, shown)
        local rule = at.data
        edit({ remove = { { rule = rule.rule, behaviour = rule.behaviour, file = rule.file } } }, shown)
      end,
    },
  },
}
