--- How much was changed, in a few words: "4 files +20 −9".
local M = {}

---@param files integer
---@param added integer
---@param removed integer
---@return string
function M.words(files, added, removed)
  return ("%d file%s +%d −%d"):format(files, files == 1 and "" or "s", added, removed)
end

--- How many lines differ between two texts.
---@param before string
---@param after string
---@return integer added, integer removed
function M.between(before, after)
  local diff = vim.text and vim.text.diff or vim.diff
  local added, removed = 0, 0
  for _, part in
    ipairs(diff(before, after, { result_type = "indices" }) --[[@as integer[][] ]])
  do
    removed, added = removed + part[2], added + part[4]
  end
  return added, removed
end

local IN_TEXT = { landed = true, accepted = true, edited = true }

--- What the edits of a turn came to, as far as they are in the text.
---@param turn_id string?
---@return string? words
function M.turn(turn_id)
  local files, count, added, removed = {}, 0, 0, 0
  for _, proposal in ipairs(turn_id and require("assent.review").proposals() or {}) do
    for _, hunk in ipairs(proposal.turnId == turn_id and proposal.hunks or {}) do
      if IN_TEXT[hunk.state] then
        count = count + (files[proposal.uri] and 0 or 1)
        files[proposal.uri] = true
        local came, went = M.between(hunk.oldText, hunk.placed or hunk.newText)
        added, removed = added + came, removed + went
      end
    end
  end
  return count > 0 and M.words(count, added, removed) or nil
end

return M
