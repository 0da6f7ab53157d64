-- A very small test runner for `nvim -l`: every `check` is a sentence; the first that fails ends the run with its words.
local failed = 0

local function check(sentence, got, wanted)
  if not vim.deep_equal(got, wanted) then
    failed = failed + 1
    io.stderr:write(("not so: %s\n  got    %s\n  wanted %s\n"):format(sentence, vim.inspect(got), vim.inspect(wanted)))
  end
end

local function with_transcript(use)
  local bufnr = vim.api.nvim_create_buf(false, true)
  use(require("assent.transcript").new(bufnr), function()
    return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  end)
end

with_transcript(function(text, lines)
  text:add("a", "text", { "" })
  text:append("a", "one\ntw")
  text:append("a", "o")
  text:add("b", "tool", { "- tool" }, { blank = true })
  text:append("a", "\nthree")
  check("an entry grows where it stands", lines(), { "one", "two", "three", "", "- tool" })
  text:extend("b", { "│ out" })
  text:head("b", "- Tool x")
  check("details stand below their entry", lines(), { "one", "two", "three", "", "- Tool x", "│ out" })
  check("and are not its first line", text:line("b"), "- Tool x")
  text:remove("a")
  check("a removed entry takes only its own lines", lines(), { "", "- Tool x", "│ out" })
  text:add("t", "thinking", { "┊ " }, { blank = true })
  text:append("t", "hm\nwell", "┊ ")
  check("every line of a thought is marked", vim.list_slice(lines(), 4), { "", "┊ hm", "┊ well" })
  check("nobody can type into it", vim.bo[text.bufnr].modifiable, false)
  text:clear()
  check("clear leaves nothing", lines(), { "" })
end)

local config = require("assent.config")
vim.g.assent = { keys = { accept = false }, chat = { layout = "tab" } }
check("a table is laid over the defaults", config.get().keys.reject, "ghr")
check("false switches a key off", config.get().keys.accept, false)
check("nothing is wrong with that", config.problem(), nil)
vim.g.assent = { chat = { layout = "upside down" } }
check("a wrong layout is named", config.problem(), "vim.g.assent.chat.layout must be right, left, bottom, tab or float")
vim.g.assent = { cmd = "assent" }
check("a command must be a list", config.problem(), "vim.g.assent.cmd must be a list such as { 'assent', 'serve', '--stdio' }")
vim.g.assent = nil

local ask = require("assent.ask")
local asked = {
  title = "Run touch a; ls",
  reason = "`touch` changes files.",
  tool = "Bash",
  input = {},
  command = { text = "touch a; ls", parts = { { argv = { "touch", "a" }, decision = "ask" }, { argv = { "ls" }, decision = "allow" } } },
  suggestions = { { rule = "Bash(touch:*)", scope = "session", covers = "" } },
}
check("a command is shown whole, with what is thought of its parts", (ask.render(asked)), {
  "$ touch a; ls",
  "  touch a  [ask]",
  "  ls  [allow]",
  "`touch` changes files.",
  "“session” and “always” allow Bash(touch:*) from now on",
})
local range = { start = { line = 1, character = 0 }, ["end"] = { line = 2, character = 0 } }
local edit = {
  title = "Edit /x/a.py",
  reason = "",
  tool = "Edit",
  input = {},
  proposal = { uri = "file:///x/a.py", hunks = { { range = range, oldText = "a\n", newText = "b\r\nc\n" } } },
}
check("a change is shown as a diff", (ask.render(edit)), { "Edit /x/a.py", "@@ line 2", "- a", "+ b", "+ c" })
check("long things are cut and say so", #ask.render({ title = "t", tool = "T", input = { a = ("x\n"):rep(99) } }, 30), 31)
check("nothing can hide", require("assent.questions").visible("a\27[2Jb\226\128\174c\r\nd"), "a\\x1b[2Jb\\u202ec\nd")

local hunks = require("assent.hunks")
check("lines of a text", hunks.lines("a\r\nb\n"), { "a", "b" })
check("an empty text has none", hunks.lines(""), {})
check("a long new line is wrapped, tabs and wide letters counted", hunks.wrapped("\tab漢字", 6, 4), { "    ab", "漢字" })
check("an empty one is still a line", hunks.wrapped("", 6, 4), { " " })
check("an endless one is cut and says so", #hunks.wrapped(("x"):rep(10000), 20, 4), 13)
local function span(hunk)
  return { hunks.span(hunk) }
end
check("a pending hunk stands on its old lines", span({ state = "pending", range = range, oldText = "a\nb\n", newText = "" }), { 1, 2 })
check("a landed one on its new lines", span({ state = "landed", range = range, oldText = "", newText = "a\n" }), { 1, 1 })
check("an insertion hangs between two", span({ state = "pending", range = range, oldText = "", newText = "a\n" }), { 0, 1 })

local lines = require("assent.code_blocks").find
local answer = { "Try", "```python", "a = 1", "```", "or", "```sh", "ls", "```" }
check("a code block is found at the cursor", lines(answer, 3).lines, { "a = 1" })
check("or the last one above it", lines(answer, 5).language, "python")
check("also at the end", lines(answer, 8).lines, { "ls" })
check("and none where there is none", lines(answer, 1), nil)

local choice = require("assent.closeup").choice
local block = { oldText = "a\nb\n", newText = "c\nd\ne\n" }
check("rows of a hunk's window are its old and its new lines", choice(block, 2, 4), { old = { { 1, 2 } }, new = { { 0, 2 } } })
check("only new ones", choice(block, 5, 5), { old = {}, new = { { 2, 3 } } })
local mixed = require("assent.review_lines").mixed
local paired = { oldText = "a\nb\nc\n", newText = "A\nB\nC\n", range = { start = { line = 4 } } }
check("old lines with one new line each are taken one by one", mixed(paired, 5, 9), "a\nB\nC\n")

local tally = require("assent.tally")
check("how much differs", { tally.between("a\nb\n", "a\nc\nd\n") }, { 2, 1 })
check("in words", { tally.words(1, 20, 9), tally.words(4, 20, 9) }, { "1 file +20 −9", "4 files +20 −9" })

for _, background in ipairs({ "dark", "light" }) do
  vim.o.background = background
  for _, group in ipairs({ "AssentOld", "AssentNew", "AssentLanded", "AssentOldSign", "AssentLandedSign", "AssentHint" }) do
    local shown = vim.api.nvim_get_hl(0, { name = group, link = false })
    check(("%s is coloured on a %s background"):format(group, background), (shown.fg or shown.bg) ~= nil, true)
  end
end

local complete = require("assent.command").complete
check("subcommands complete", complete("re", "Assent re"), { "reject", "rename", "restart", "retry", "review", "rewind" })
check("so do their words", complete("pl", "Assent mode pl"), { "plan" })
check("and layouts", complete("f", "Assent! chat f"), { "float" })
check("also after a range", complete("as", "'<,'>Assent as"), { "ask" })
check("nothing else does", complete("x", "Assent nothing x"), {})

local help = vim.api.nvim_get_runtime_file("doc/assent.txt", false)[1]
local written = table.concat(vim.fn.readfile(help), "\n")
for name in pairs(require("assent.command").subcommands) do
  check("the help knows :Assent " .. name, written:find("Assent " .. name, 1, true) ~= nil or name, true)
end
for name, value in pairs(config.defaults) do
  check("the help knows the option " .. name, written:find("\t  " .. name .. " = ", 1, true) ~= nil or name, true)
  for inner in pairs(type(value) == "table" and not vim.islist(value) and value or {}) do
    check("and " .. inner, written:find(inner .. " = ", 1, true) ~= nil or inner, true)
  end
end
local tags = vim.fn.tempname()
vim.fn.mkdir(tags, "p")
vim.uv.fs_copyfile(help, tags .. "/assent.txt")
vim.cmd.helptags(tags)
check("its tags are sound", #vim.fn.readfile(tags .. "/tags") > 10, true)

local parse = require("assent.references").parse
check("a place", parse("see `src/a.py:12:3`.", 8), { path = "src/a.py", line = 12, column = 3 })
check("a match of a search", parse("greeter.py:5:def bye():", 2), { path = "greeter.py", line = 5 })
check("a path", parse("in src/a.py, too", 5), { path = "src/a.py" })
check("an address", parse("at https://example.org/a:1", 9), { url = "https://example.org/a:1" })
check("nothing", parse("   ", 1), nil)

local begins = require("assent.completion").begins
check("@ begins a file after a space", begins("@", 3, "see "), true)
check("@ in an address does not", begins("@", 1, "me"), false)
check("/ begins a command only at the start", { begins("/", 1, ""), begins("/", 2, ""), begins("/", 1, "a") }, { true, false, false })

local head = require("assent.call_lines").head
check("a tool is named once", head("Read", {}, "Read a.py"), "- `Read` a.py")
check("a bare tool", head("Read"), "- `Read`")

local positions = require("assent.positions")
local accents = "é😀x"
check("columns of a byte", {
  positions.column(accents, 6, "utf-8"),
  positions.column(accents, 6, "utf-16"),
  positions.column(accents, 6, "utf-32"),
  positions.column(accents, 99),
}, { 6, 3, 2, 4 })
check("bytes of a column", {
  positions.byte(accents, 6, "utf-8"),
  positions.byte(accents, 3, "utf-16"),
  positions.byte(accents, 2, "utf-32"),
  positions.byte(accents, 99),
}, { 6, 6, 6, 7 })
local folder = vim.fn.tempname()
vim.fn.mkdir(folder, "p")
local first, second = folder .. "/one.txt", folder .. "/one"
vim.fn.writefile({ accents }, first)
vim.fn.writefile({ "plain", accents }, second)
local function at(line, character)
  return { start = { line = line, character = character }, ["end"] = { line = line, character = character } }
end
check(
  "positions are counted in the document they name",
  positions.recount({
    { uri = vim.uri_from_fname(second), range = at(1, 6) },
    { range = at(0, 6) },
    { changes = { [vim.uri_from_fname(second)] = { { range = at(0, 3), newText = "" } } } },
  }, vim.uri_from_fname(first), "utf-8", "utf-16"),
  {
    { uri = vim.uri_from_fname(second), range = at(1, 3) },
    { range = at(0, 3) },
    { changes = { [vim.uri_from_fname(second)] = { { range = at(0, 3), newText = "" } } } },
  }
)
vim.cmd.edit(first)
check("a name is not a pattern", positions.buffer_of(vim.uri_from_fname(second)), nil)
vim.uv.fs_symlink(first, folder .. "/link")
check("a link is its file", positions.buffer_of(vim.uri_from_fname(folder .. "/link")), vim.api.nvim_get_current_buf())
vim.cmd.bdelete()

local typed, told = { "", "x", "7", "" }, nil
vim.ui.input = function(_, done)
  done(table.remove(typed, 1))
end
vim.ui.select = function(items, _, done)
  done(items[#items])
end
coroutine.wrap(function()
  told = require("assent.elicit").elicit({
    requestId = "r",
    elicitId = "e",
    message = "A form",
    schema = {
      required = { "count" },
      properties = {
        count = { type = "integer" },
        colour = { enum = { "red", "green" } },
        note = { type = "string" },
        really = { type = "boolean" },
      },
    },
  })
end)()
check("a form waits until it is gone into", told, nil)
require("assent.questions").focus()
vim.api.nvim_feedkeys("y", "xt", false)
check("a form is asked field by field", told, {
  action = "accept",
  content = { count = 7, colour = "green", really = false },
})

if failed > 0 then
  os.exit(1)
end
