--- What the server may ask and tell, and who answers. Only names are known here: a module loads with its first use.
local protocol = require("assent.protocol")

local M = {}

--- A request: it is judged by the text as it is now, so what was typed goes first.
---@param module string
---@param name string
---@return fun(...): any
local function serve(module, name)
  return function(_, params, context)
    require("assent.documents").flush()
    return require(module)[name](params, context)
  end
end

---@return table<string, fun(...): any, any>
function M.all()
  local apply_edit = "workspace/applyEdit"
  local asks, notes = protocol.server_requests, protocol.server_notifications
  return {
    -- With a label Neovim would say "Workspace edit …" for each hunk, over whatever the user is reading.
    [apply_edit] = function(err, params, context)
      local documents = require("assent.documents")
      documents.flush()
      if documents.outdated(params.edit) then
        return { applied = false, failureReason = "the buffer has changed meanwhile" }
      end
      local fitting = vim.tbl_extend("force", params, { label = false, edit = documents.fitting(params.edit) })
      return vim.lsp.handlers[apply_edit](err, fitting, context)
    end,
    -- Neovim would print it whole, and a long one would stop the user at "Press ENTER".
    ["window/showMessage"] = function(_, params)
      local level = ({ vim.log.levels.ERROR, vim.log.levels.WARN })[params.type]
      require("assent.notice").tell((params.message:gsub("^Assent: ", "")), level)
    end,
    ["window/showMessageRequest"] = serve("assent.dialog", "choose"),
    [asks.permission_ask] = serve("assent.ask", "permission"),
    [asks.elicit] = serve("assent.elicit", "elicit"),
    [asks.editor_query] = serve("assent.queries", "query"),
    [asks.editor_save] = serve("assent.queries", "save"),
    [notes.session_event] = function(_, params)
      require("assent.session").event(params)
    end,
    [notes.status] = function(_, params)
      require("assent.session").server_status(params)
    end,
    [notes.roster] = function()
      if package.loaded["assent.view"] then
        require("assent.view").changed("roster")
      end
    end,
    [notes.missed] = function(_, params)
      require("assent.conversations").missed(params.sessions)
    end,
    [notes.withdrawn] = function(_, params)
      require("assent.questions").withdrawn(params.requestId)
    end,
  }
end

return M
