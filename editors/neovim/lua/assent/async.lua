--- Waiting inside the coroutine in which Neovim runs the handler of a server request.
local M = {}

--- Run `start(resume)` and wait until it calls `resume(value)`; the first call counts.
---@generic T
---@param start fun(resume: fun(value: T?))
---@return T?
function M.await(start)
  local co = assert(coroutine.running(), "await needs a coroutine")
  local done, waiting, value = false, false, nil
  start(function(given)
    if done then
      return
    end
    done, value = true, given
    if waiting then
      local ok, problem = coroutine.resume(co)
      if not ok then
        require("assent.notice").tell(tostring(problem), vim.log.levels.ERROR)
      end
    end
  end)
  if not done then
    waiting = true
    coroutine.yield()
  end
  return value
end

--- Wait on the event loop for this many milliseconds.
---@param milliseconds integer
function M.sleep(milliseconds)
  M.await(function(resume)
    vim.defer_fn(resume, milliseconds)
  end)
end

return M
