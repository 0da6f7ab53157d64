--- What the user chooses for the current session, its model and its permission mode; and what fills its context.
local client = require("assent.client")
local notice = require("assent.notice")
local protocol = require("assent.protocol")
local sessions = require("assent.session")

local M = {}

local OTHER_MODEL = { id = "", name = "another one, by its name…" }

---@param method string
---@param extra table?
---@param done fun(result: table)
local function with_session(method, extra, done)
  sessions.some(function(session)
    if not session then
      return
    end
    client.request(method, vim.tbl_extend("force", { sessionId = session.id }, extra or {}), function(err, result)
      if err then
        return notice.report(err)
      end
      done(result)
    end)
  end)
end

--- A model of the endpoint's own list, or one that is typed.
---@param set fun(model: string?)
local function pick_model(set)
  client.request(protocol.requests.model_list, { cwd = client.root() }, function(err, result)
    local models = err and {} or result.models
    if not err and result.error then
      notice.tell(result.error, vim.log.levels.WARN)
    end
    local options = {
      prompt = "Model",
      kind = "assent_model",
      format_item = function(model)
        local named = model.name ~= model.id and model.id ~= ""
        return named and ("%s  %s"):format(model.name, model.id) or model.name
      end,
    }
    vim.ui.select(vim.list_extend(models, { OTHER_MODEL }), options, function(model)
      if model and model.id ~= "" then
        return set(model.id)
      elseif model then
        vim.ui.input({ prompt = "Model: " }, set)
      end
    end)
  end)
end

---@param key "model"|"mode"
---@param value string?
local function set(key, value)
  if not value or value == "" then
    return
  end
  with_session(protocol.requests.session_configure, { [key] = value }, function(result)
    local session = sessions.get(sessions.current)
    session[key] = result[key] or session[key] -- what counts now, not what was wished for
    notice.tell(("%s is now %s"):format(key, session[key]))
    vim.cmd.redrawstatus({ bang = true })
  end)
end

--- `:Assent model`; without a name the user picks one.
---@param name string?
function M.model(name)
  if name then
    return set("model", name)
  end
  pick_model(function(model)
    set("model", model)
  end)
end

--- `:Assent mode`; without a name the user picks one.
---@param name string?
function M.mode(name)
  if name then
    if notice.one_of("mode", name, protocol.modes) then
      set("mode", name)
    end
    return
  end
  vim.ui.select(protocol.modes, { prompt = "Permission mode" }, function(mode)
    set("mode", mode)
  end)
end

---@param title string
---@param lines string[]
local function show(title, lines)
  local bufnr = vim.api.nvim_create_buf(false, true)
  require("assent.panes").split_off(bufnr, ("botright %dsplit"):format(math.min(#lines + 1, 20)))
  vim.bo[bufnr].bufhidden = "wipe"
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  vim.wo.winbar = "%#Title# " .. title
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = bufnr })
end

--- `:Assent context`: what fills the model's context.
function M.context()
  with_session(protocol.requests.session_context, nil, function(result)
    local lines = {}
    for name, tokens in vim.spairs(result.tokens or {}) do
      table.insert(lines, ("%-16s %10d tokens"):format(name, tokens))
    end
    table.insert(lines, ("%-16s %10d tokens"):format("window", result.window or 0))
    show("Assent: context", lines)
  end)
end

return M
