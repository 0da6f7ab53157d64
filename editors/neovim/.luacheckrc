std = "luajit"
globals = { "vim" }
max_line_length = 120
files["**/wire.lua"] = { max_line_length = false } -- written by `make protocol`: annotations only
