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

---@param decision "accept"|"reject"
local function decide(decision)
  return function(arguments, options)
    local scope = "hunk"
    if arguments[1] == "all" or arguments[1] == "file" then
      scope = table.remove(arguments, 1)
    end
    local words = table.concat(arguments, " ")
    local reason = words ~= "" and words or nil
    if scope == "hunk" and options.range > 0 then
      return require("assent.review_lines").decide(decision, options.line1, options.line2, reason)
    end
    review().decide(decision, scope, reason)
  end
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

--- A view of what the server knows.
---@param name string
---@param module string?
---@return assent.Subcommand
local function view(name, module)
  return {
    run = function()
      local found = require("assent.views." .. (module or name))
      require("assent.view").show(module and found[name] or found)
    end,
  }
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
      local range = require("assent.prompting").range_of(options)
      if arguments[1] and not notice().one_of("layout", arguments[1], require("assent.panes").LAYOUTS) then
        return
      end
      chat().start({ new = options.bang, layout = arguments[1] }, function(opened)
        if range then
          require("assent.attachments").select(opened.id, range)
        end
      end)
    end,
    complete = require("assent.panes").LAYOUTS,
  },
  ask = {
    run = function(arguments, options)
      require("assent.prompting").ask(arguments, options)
    end,
  },
  prompt = {
    run = function(arguments, options)
      require("assent.prompting").change(arguments, options)
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
    run = function(arguments)
      require("assent.conversations").pick(table.concat(arguments or {}, " "))
    end,
  },
  toggle = {
    run = function()
      chat().toggle()
    end,
  },
  continue = {
    run = function()
      require("assent.conversations").continue()
    end,
  },
  fork = {
    run = function()
      require("assent.conversations").fork()
    end,
  },
  rename = {
    run = function(arguments)
      require("assent.conversations").rename(table.concat(arguments, " "))
    end,
  },
  delete = {
    run = function()
      require("assent.conversations").delete()
    end,
  },
  detach = {
    run = function()
      if sessions().current then
        require("assent.attachments").select(sessions().current, nil)
      end
    end,
  },
  image = {
    run = function(arguments)
      chat().start(nil, function(opened)
        local path = table.concat(arguments, " ")
        if path == "" then
          return require("assent.attachments").paste(opened)
        end
        require("assent.attachments").picture(opened, path)
      end)
    end,
  },
  review = {
    run = function()
      require("assent.review_list").quickfix()
    end,
  },
  hunks = {
    run = function()
      require("assent.review_list").window()
    end,
  },
  lines = {
    run = function()
      require("assent.review_lines").open()
    end,
  },
  undo = {
    run = function(_, options)
      require("assent.undo").turn(options.bang)
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
    run = function(arguments)
      require("assent.session_choices").mode(arguments[1])
    end,
    complete = require("assent.protocol").modes,
  },
  model = {
    run = function(arguments)
      require("assent.session_choices").model(arguments[1])
    end,
  },
  rewind = {
    run = function()
      require("assent.conversations").rewind()
    end,
  },
  snip = {
    run = function(_, options)
      require("assent.snip").pick(options.bang)
    end,
  },
  mcp = view("mcp"),
  agents = view("agents"),
  permissions = view("permissions"),
  roster = view("roster"),
  hooks = view("hooks", "definitions"),
  skills = view("skills", "definitions"),
  memory = view("memory", "definitions"),
  plugins = view("plugins", "definitions"),
  context = {
    run = function()
      require("assent.session_choices").context()
    end,
  },
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
    return notice().one_of("command", name, known)
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
