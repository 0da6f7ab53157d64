--- Other ways to look at hunks: one to be changed before it lands, the file beside itself.
local hunks = require("assent.hunks")
local notice = require("assent.notice")
local panes = require("assent.panes")
local review = require("assent.review")

local M = {}

--- Change the new text of a hunk before it lands: a small buffer whose :w accepts.
function M.edit()
  local place = review.here()
  if not place or place.hunk.state ~= "pending" then
    return notice.tell("no pending hunk is here")
  end
  local filetype = vim.bo.filetype
  local lines = hunks.lines(place.hunk.newText)
  local bufnr = vim.api.nvim_create_buf(false, true)
  panes.split_off(bufnr, ("belowright %dsplit"):format(math.min(#lines + 2, 15)))
  vim.bo[bufnr].buftype = "acwrite"
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].filetype = filetype
  vim.api.nvim_buf_set_name(bufnr, "assent://hunk/" .. place.hunk.hunkId)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modified = false
  vim.wo.winbar = "%#Comment# :w accepts your version · :q leaves it pending"
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = bufnr,
    callback = function()
      local ending = place.hunk.newText:sub(-1) == "\n" and "\n" or ""
      local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), "\n") .. ending
      vim.bo[bufnr].modified = false
      review.resolve(place, { { hunkId = place.hunk.hunkId, decision = "edit", newText = text } })
      vim.schedule(function()
        pcall(vim.api.nvim_win_close, vim.fn.bufwinid(bufnr), true)
      end)
    end,
  })
end

--- The file beside itself with every pending hunk taken, as a diff.
function M.diff()
  local uri = review.uri_of(0)
  local taken = vim.tbl_filter(function(each)
    return each.uri == uri and each.hunk.state == "pending"
  end, review.places())
  if not uri or #taken == 0 then
    return notice.tell("no hunk waits in this file; :Assent next goes to one")
  end
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  local filetype = vim.bo.filetype
  for index = #taken, 1, -1 do
    local hunk = taken[index].hunk
    local first = hunk.range.start.line
    for _ = 1, #hunks.lines(hunk.oldText) do
      table.remove(lines, first + 1)
    end
    for offset, line in ipairs(hunks.lines(hunk.newText)) do
      table.insert(lines, first + offset, line)
    end
  end
  local original = vim.api.nvim_get_current_win()
  vim.cmd.diffthis()
  vim.cmd.vnew()
  local bufnr = vim.api.nvim_get_current_buf()
  vim.bo[bufnr].buftype, vim.bo[bufnr].bufhidden, vim.bo[bufnr].filetype = "nofile", "wipe", filetype
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  vim.wo.winbar = "%#Comment# with every hunk taken · q closes"
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = bufnr })
  vim.cmd.diffthis()
  review.redraw(uri) -- there is less room now
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = bufnr,
    callback = function()
      if vim.api.nvim_win_is_valid(original) then
        vim.api.nvim_win_call(original, vim.cmd.diffoff)
      end
    end,
  })
end

return M
