--- `:Assent mcp`: the configured MCP servers, to be restarted, approved, signed in to, switched on and off, looked at.
local notice = require("assent.notice")
local protocol = require("assent.protocol")
local view = require("assent.view")

local TRUST_FIRST = ":Assent trust shows what the project would start, and asks"

---@param text string?
---@return string[]
local function lines_of(text)
  return text and text ~= "" and vim.split(text, "\n", { plain = true }) or {}
end

---@param server assent.wire.McpServerState
---@return assent.Row
local function row(server)
  local tools = type(server.tools) == "table" and #server.tools or server.tools or 0
  local parts = { ("%-20s %-13s"):format(server.name, server.status), ("%d tools"):format(tools) }
  if (server.tokens or 0) > 0 then
    table.insert(parts, ("%d tokens"):format(server.tokens))
  end
  for _, word in ipairs({ server.transport or "", server.era or "", server.scope or "" }) do
    table.insert(parts, word ~= "" and word or nil)
  end
  local more = lines_of(server.error)
  if server.status == "needsApproval" then
    vim.list_extend(more, lines_of(server.change or server.shown)) -- what `a` would approve is on the screen
  end
  local folded = lines_of(server.shown)
  vim.list_extend(folded, server.problems or {})
  vim.list_extend(folded, lines_of(server.stderrTail))
  return {
    text = table.concat(parts, "  "),
    more = more,
    folded = folded,
    file = server.source,
    dim = server.status == "disabled",
    data = server,
  }
end

--- One server: what each of its tools costs, and the end of its log.
---@param at assent.Row
local function details(at)
  if not at.data.name then
    return notice.tell(TRUST_FIRST)
  end
  view.show({
    name = "mcp server",
    empty = "It has no tools and has logged nothing.",
    load = function(done)
      view.request(protocol.requests.mcp_show, view.about({ name = at.data.name }), function(result)
        local rows = vim.tbl_map(function(tool)
          local more = tool.heldBack and { "held back until you accept its change" } or nil
          local words = ("%-40s %6d tokens"):format(tool.name, tool.tokens)
          return { text = words, more = more, folded = lines_of(tool.description), data = tool }
        end, result.tools)
        for _, line in ipairs(lines_of(result.log)) do
          table.insert(rows, { text = line, dim = true, data = {} })
        end
        done(rows)
      end)
    end,
    keys = {},
  })
end

---@param label string
---@param method string
---@param after fun(server: table)?
---@return assent.ViewKey
local function act(label, method, after)
  return {
    label = label,
    run = function(at, shown)
      if not at.data.name then
        return notice.tell(TRUST_FIRST)
      end
      local params = view.about({ name = at.data.name, hash = at.data.hash })
      view.request(protocol.requests[method], params, function(answer)
        if after then
          after(answer.server)
        end
        view.refresh(shown)
      end)
    end,
  }
end

return {
  name = "mcp",
  empty = "No MCP servers are configured here.",
  load = function(done)
    view.request(protocol.requests.mcp_list, view.about(), function(result)
      local rows = vim.tbl_map(row, result.servers)
      if result.withheld then
        local words = "%d more of this project: withheld until you trust the folder (:Assent trust)"
        table.insert(rows, { text = words:format(result.withheld), more = {}, dim = true, data = {} })
      end
      done(rows)
    end)
  end,
  keys = {
    r = act("restart", "mcp_restart"),
    a = act("approve", "mcp_approve"),
    e = act("enable", "mcp_enable"),
    d = act("disable", "mcp_disable"),
    l = { label = "tools and log", run = details },
    s = act("sign in", "mcp_sign_in", function(server)
      if server.url then
        local paste = ("/mcp sign-in %s ADDRESS"):format(server.name)
        notice.tell(("sign in in your browser: %s (if its last page cannot be reached: %s)"):format(server.url, paste))
        vim.ui.open(server.url)
      end
    end),
  },
}
