-- Another world for a program that is not to be changed: some paths lead elsewhere, some connections too, and one
-- file exists only here.

-- Everything below the left side is looked for below the right side.
local PATHS = {
  ["/etc/app"] = "/tmp/hermes-app",
}

-- host:port as the program asks for it, and where it gets.
local CONNECTIONS = {
  ["127.0.0.1:5432"] = "127.0.0.1:15432",
}

-- Files that no disk holds.
local FILES = {
  ["/etc/hermes-virtual"] = "This file is made by policies/virtualize.lua.\n",
}

hermes.name = "virtualize"

local function moved(path)
  for from, to in pairs(PATHS) do
    if path == from or path:sub(1, #from + 1) == from .. "/" then return to .. path:sub(#from + 1) end
  end
end

-- Every call that takes a path, and every path of it: rename and link have two.
hermes.on("%file", function(e)
  for _, p in ipairs(e.paths) do
    local to = moved(p.path)
    if to then hermes.modify_arg(p.argument, to) end
  end
end)

hermes.on({ "open", "openat" }, function(e)
  local content = e.path and FILES[e.path]
  if content then return hermes.virtual_file(content) end
end)

hermes.on("connect", function(e)
  local to = e.address and CONNECTIONS[e.address.text]
  if to then return hermes.redirect(to) end
end)
