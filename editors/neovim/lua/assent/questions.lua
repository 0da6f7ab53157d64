--- What waits for the user's answer: a queue, and a float in the corner that shows its first entry. The float never
--- takes the focus, so no key typed for a buffer can answer it; `:Assent answer` or its <Plug> goes into it on purpose.
--- What a question looks like and what its keys do is for `ask` and `elicit`.
local client = require("assent.client")

local M = {}

local namespace = vim.api.nvim_create_namespace("assent_ask")

---@class assent.Question
---@field id string askId or elicitId: the same question may be asked again after an attach
---@field title string of the window
---@field lines string[]
---@field highlights table<integer, string>
---@field footer string
---@field keys table<string, fun(question: assent.Question)>
---@field quick table<string, fun(question: assent.Question)> what `:Assent answer WORD` does
---@field waiting table<string, fun(result: table)> who asked, by requestId

---@type assent.Question[] the first is the one on the screen
local queue = {}
---@type integer?
local window
---@type assent.Question?
local shown

---@return integer
function M.count()
  return #queue
end

--- Text that cannot hide anything: control characters and those that reorder text are spelled out.
---@param text string
---@return string
function M.visible(text)
  local plain = text
    :gsub("\r\n", "\n")
    :gsub("[%z\1-\8\11-\31\127]", function(char)
      return ("\\x%02x"):format(char:byte())
    end)
    :gsub("\226\128[\139-\143\170-\174]", function(char)
      return ("\\u%04x"):format(vim.fn.char2nr(char))
    end)
    :gsub("\226\129[\160-\175]", function(char)
      return ("\\u%04x"):format(vim.fn.char2nr(char))
    end)
    :gsub("\239\187\191", "\\ufeff")
  return plain
end

---@param lines string[]
---@param highlights table<integer, string>
---@param text string
---@param highlight string?
function M.put(lines, highlights, text, highlight)
  for _, line in ipairs(vim.split(M.visible(text), "\n", { plain = true })) do
    table.insert(lines, line)
    if highlight then
      highlights[#lines] = highlight
    end
  end
end

local function close()
  if window and vim.api.nvim_win_is_valid(window) then
    vim.api.nvim_win_close(window, true)
  end
  window, shown = nil, nil
end

---@param id integer a window
---@return boolean
local function on_this_tab(id)
  return vim.api.nvim_win_get_tabpage(id) == vim.api.nvim_get_current_tabpage()
end

--- The row below which nothing may be covered: the top of a prompt on the screen, or the status line.
---@return integer
local function floor()
  local bottom = vim.o.lines - vim.o.cmdheight - 1
  for _, each in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local bufnr = vim.api.nvim_win_get_buf(each)
    if vim.bo[bufnr].filetype == "assent_prompt" and vim.api.nvim_win_get_config(each).relative == "" then
      bottom = math.min(bottom, vim.api.nvim_win_get_position(each)[1] - 1)
    end
  end
  return bottom > 8 and bottom or vim.o.lines - vim.o.cmdheight - 1
end

---@param question assent.Question
---@param width integer
---@return integer rows that the lines take when wrapped
local function rows(question, width)
  local count = 0
  for _, line in ipairs(question.lines) do
    count = count + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  return count
end

--- Draw the first question, or nothing. Leaves the cursor where it is.
function M.show()
  local first = queue[1]
  if not first then
    return close()
  end
  -- The keys below only work inside, where one gets on purpose: so the title says how.
  local of = #queue > 1 and (" (1 of %d)"):format(#queue) or ""
  local title = (" %s%s · :Assent answer "):format(first.title, of)
  local width = math.max(vim.fn.strdisplaywidth(first.footer), vim.fn.strdisplaywidth(title)) + 2
  for _, line in ipairs(first.lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line) + 2)
  end
  width = math.max(1, math.min(width, vim.o.columns - 4))
  local bottom = floor()
  local place = {
    relative = "editor",
    anchor = "SE",
    row = bottom,
    col = vim.o.columns,
    width = width,
    height = math.max(1, math.min(rows(first, width), bottom - 3)),
    title = title,
    title_pos = "left",
    footer = first.footer,
    footer_pos = "left",
  }
  if shown == first and window and vim.api.nvim_win_is_valid(window) then
    -- It is on the screen already, and the user may be in it: it only moves.
    return vim.api.nvim_win_set_config(window, place)
  end
  close()
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, first.lines)
  for row, highlight in pairs(first.highlights) do
    if row <= #first.lines then
      vim.api.nvim_buf_set_extmark(bufnr, namespace, row - 1, 0, { line_hl_group = highlight })
    end
  end
  vim.bo[bufnr].modifiable = false
  for key, action in pairs(first.keys) do
    vim.keymap.set("n", key, function()
      action(first)
    end, { buffer = bufnr, nowait = true, desc = "Assent: answer" })
  end
  vim.keymap.set("n", "q", "<Cmd>wincmd p<CR>", { buffer = bufnr, nowait = true, desc = "Assent: leave it waiting" })
  place.border, place.style, place.zindex, place.noautocmd = "rounded", "minimal", 60, true
  window = vim.api.nvim_open_win(bufnr, false, place)
  shown = first
  vim.wo[window].wrap = true
  vim.wo[window].linebreak = true
end

--- A question arrives, perhaps not for the first time.
---@param question assent.Question
---@param request_id string
---@param resume fun(result: table)
function M.add(question, request_id, resume)
  for _, each in ipairs(queue) do
    if each.id == question.id then
      each.waiting[request_id] = resume
      return
    end
  end
  question.waiting = { [request_id] = resume }
  table.insert(queue, question)
  M.show()
end

--- Answer this question, if it still waits.
---@param question assent.Question
---@param result table
function M.answer(question, result)
  for index, each in ipairs(queue) do
    if each == question then
      table.remove(queue, index)
      M.show()
      for _, resume in pairs(question.waiting) do
        resume(result)
      end
      return
    end
  end
  client.notify("this question has been settled meanwhile")
end

--- Someone else answered, or the question is moot. What we say now is dropped by the server.
---@param request_id string
function M.withdrawn(request_id)
  for index, each in ipairs(queue) do
    local resume = each.waiting[request_id]
    if resume then
      each.waiting[request_id] = nil
      if vim.tbl_isempty(each.waiting) then
        table.remove(queue, index)
      end
      resume({ decision = "deny", action = "cancel", message = "withdrawn" })
      return M.show()
    end
  end
end

--- The server is gone, and its questions with it. It will ask again.
function M.forget()
  queue = {}
  close()
end

--- Go into the question, to answer it with its keys.
function M.focus()
  if #queue == 0 then
    return client.notify("nothing is waiting for an answer")
  end
  if not window or not vim.api.nvim_win_is_valid(window) or not on_this_tab(window) then
    shown = nil
    M.show()
  end
  vim.api.nvim_set_current_win(window --[[@as integer]])
end

---@param word string
function M.quick(word)
  local first = queue[1]
  if not first then
    return client.notify("nothing is waiting for an answer")
  end
  if not first.quick[word] then
    return client.notify("this question has other answers; :Assent answer shows them")
  end
  first.quick[word](first)
end

vim.api.nvim_create_autocmd({ "VimResized", "WinNew", "WinClosed", "TabEnter" }, {
  group = vim.api.nvim_create_augroup("assent_ask", { clear = true }),
  callback = function(event)
    if #queue > 0 then
      vim.schedule(function()
        if event.event == "TabEnter" then
          shown = nil
          close()
        end
        M.show()
      end)
    end
  end,
})

return M
