--- `:Assent SUBCOMMAND …`: one command, its parts in one table.
local M = {}

local function chat()
  return require("assent.chat")
end
local function sessions()
  return require("assent.session")
end
local function client()
  return require("assent.client")
end
local function notice()
  return require("assent.notice")
end
local function review()
  return require("assent.review")
end
local function requests()
  return require("assent.protocol").requests
end

--- The prompt with the lines it is about.
---@param text string
---@param range { bufnr: integer, first: integer, last: integer }?
---@return string prompt
---@return table? options
local function with_range(text, range)
  if not range then
    return text, nil
  end
  if vim.api.nvim_buf_get_name(range.bufnr) == "" then
    -- Nothing has a name that the agent could read: the lines go along as they are.
    local quoted = vim.api.nvim_buf_get_lines(range.bufnr, range.first - 1, range.last, false)
    return ("%s\n\n~~~~\n%s\n~~~~"):format(text, table.concat(quoted, "\n")), nil
  end
  require("assent").remember_selection(range.bufnr, range.first, range.last)
  local lines = require("assent.positions").lines(range.bufnr, range.first, range.last)
  return text, { mentions = { { uri = vim.uri_from_bufnr(range.bufnr), range = lines } } }
end

---@param options table
---@return { bufnr: integer, first: integer, last: integer }?
local function range_of(options)
  if options.range == 0 then
    return nil
  end
  return { bufnr = vim.api.nvim_get_current_buf(), first = options.line1, last = options.line2 }
end

---@param text string
---@param range table?
local function send(text, range)
  chat().start(nil, function(opened)
    local prompt, extra = with_range(text, range)
    require("assent.panes").all_to_end(opened)
    sessions().send(sessions().get(opened.id), prompt, extra)
  end)
end

---@param method string
---@param extra table?
---@param done fun(result: table)
local function with_session(method, extra, done)
  sessions().some(function(session)
    if not session then
      return
    end
    client().request(method, vim.tbl_extend("force", { sessionId = session.id }, extra or {}), function(err, result)
      if err then
        return notice().report(err)
      end
      done(result)
    end)
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

---@param key "model"|"mode"
---@param choices string[]?
local function configure(key, choices)
  return function(arguments)
    local set = function(value)
      if not value or value == "" then
        return
      end
      with_session(requests().session_configure, { [key] = value }, function(result)
        local session = sessions().get(sessions().current)
        session[key] = result[key] or session[key] -- what counts now, not what was wished for
        notice().tell(("%s is now %s"):format(key, session[key]))
        vim.cmd.redrawstatus({ bang = true })
      end)
    end
    if arguments[1] then
      set(arguments[1])
    elseif choices then
      vim.ui.select(choices, { prompt = "Permission mode" }, set)
    else
      vim.ui.input({ prompt = "Model: " }, set)
    end
  end
end

---@param decision "accept"|"reject"
local function decide(decision)
  return function(arguments)
    local scope = "hunk"
    if arguments[1] == "all" or arguments[1] == "file" then
      scope = table.remove(arguments, 1)
    end
    local reason = table.concat(arguments, " ")
    review().decide(decision, scope, reason ~= "" and reason or nil)
  end
end

local function context()
  with_session(requests().session_context, nil, function(result)
    local lines = {}
    for name, tokens in vim.spairs(result.tokens or {}) do
      table.insert(lines, ("%-16s %10d tokens"):format(name, tokens))
    end
    table.insert(lines, ("%-16s %10d tokens"):format("window", result.window or 0))
    show("Assent: context", lines)
  end)
end

local function log()
  local data = vim.env.XDG_DATA_HOME or (vim.env.HOME .. "/.local/share")
  local newest = vim.fn.glob(data .. "/assent/logs/*.log", false, true)
  table.sort(newest, function(a, b)
    return vim.fn.getftime(a) > vim.fn.getftime(b)
  end)
  if not newest[1] then
    return notice().tell("there is no log yet")
  end
  vim.cmd.tabedit(vim.fn.fnameescape(newest[1]))
end

--- Answer the question that waits, from any buffer.
---@param word assent.QuickAnswer
local function quick(word)
  return {
    run = function()
      require("assent.questions").quick(word)
    end,
  }
end

---@class assent.Subcommand
---@field run fun(arguments: string[], options: table)
---@field complete (string[]|fun(): string[])?

---@type table<string, assent.Subcommand>
M.subcommands = {
  chat = {
    run = function(arguments, options)
      chat().start({ new = options.bang, layout = arguments[1] })
    end,
    complete = require("assent.panes").LAYOUTS,
  },
  ask = {
    run = function(arguments, options)
      local range = range_of(options)
      local text = table.concat(arguments, " ")
      if text ~= "" then
        return send(text, range)
      end
      vim.ui.input({ prompt = "Ask Assent: " }, function(typed)
        if typed and typed ~= "" then
          send(typed, range)
        end
      end)
    end,
  },
  prompt = {
    run = function(arguments, options)
      local range = range_of(options)
        or { bufnr = vim.api.nvim_get_current_buf(), first = vim.fn.line("."), last = vim.fn.line(".") }
      local go = function(typed)
        if typed and typed ~= "" then
          sessions().some(function(session)
            if session then
              require("assent.review")
              local prompt, extra = with_range(typed, range)
              sessions().send(session, prompt, extra)
            end
          end)
        end
      end
      local text = table.concat(arguments, " ")
      if text ~= "" then
        return go(text)
      end
      vim.ui.input({ prompt = "Change this: " }, go)
    end,
  },
  stop = {
    run = function()
      local current = sessions().current
      if not current then
        return notice().tell("nothing is running")
      end
      chat().stop(current)
    end,
  },
  retry = {
    run = function()
      chat().start(nil, function(opened)
        sessions().retry(sessions().get(opened.id))
      end)
    end,
  },
  sessions = {
    run = function()
      require("assent.conversations").pick()
    end,
  },
  review = {
    run = function()
      require("assent.review_views").list()
    end,
  },
  accept = { run = decide("accept"), complete = { "file", "all" } },
  reject = { run = decide("reject"), complete = { "file", "all" } },
  edit = {
    run = function()
      require("assent.review_views").edit()
    end,
  },
  next = {
    run = function()
      review().go(1)
    end,
  },
  prev = {
    run = function()
      review().go(-1)
    end,
  },
  diff = {
    run = function()
      require("assent.review_views").diff()
    end,
  },
  answer = {
    run = function(arguments)
      local questions = require("assent.questions")
      local word = ({ allow = "yes", deny = "no" })[arguments[1]] or arguments[1]
      if word then
        return questions.quick(word)
      end
      questions.focus()
    end,
    complete = { "allow", "deny", "always" },
  },
  yes = quick("yes"),
  no = quick("no"),
  always = quick("always"),
  mode = {
    run = configure("mode", require("assent.protocol").modes),
    complete = require("assent.protocol").modes,
  },
  model = { run = configure("model") },
  rewind = {
    run = function()
      require("assent.conversations").rewind()
    end,
  },
  context = { run = context },
  log = { run = log },
  trust = {
    run = function(arguments)
      -- The server shows what trust would activate, and asks, where there is anything to show.
      client().request("workspace/executeCommand", {
        command = "assent.trust",
        arguments = { vim.uri_from_fname(client().root()), arguments[1] ~= "no" },
      }, function(err, answer)
        local trusted = not err and answer.trusted
        notice().tell(
          err and notice().words(err) or (trusted and "this folder is trusted" or "this folder is not trusted")
        )
      end)
    end,
    complete = { "yes", "no" },
  },
  restart = {
    run = function()
      client().restart()
    end,
  },
}

---@param options table
function M.run(options)
  local arguments = vim.deepcopy(options.fargs)
  local name = table.remove(arguments, 1) or "chat"
  local found = M.subcommands[name]
  if not found then
    local known = vim.tbl_keys(M.subcommands)
    table.sort(known)
    local words = ("there is no %s. There are: %s"):format(name, table.concat(known, ", "))
    return notice().tell(words, vim.log.levels.ERROR)
  end
  found.run(arguments, options)
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(vim.trim(line:gsub("^.*Assent!?", "")), "%s+")
  local choices
  if #words <= 1 and not line:match("Assent!?%s+%S+%s") then
    choices = vim.tbl_keys(M.subcommands)
  else
    local found = M.subcommands[words[1]]
    choices = found and found.complete or {}
    if type(choices) == "function" then
      choices = choices()
    end
  end
  local matching = vim.tbl_filter(function(choice)
    return vim.startswith(choice, lead)
  end, choices)
  table.sort(matching)
  return matching
end

return M
