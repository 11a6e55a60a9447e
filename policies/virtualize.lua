-- Virtualizes an unmodified program: redirects some paths and connections, and adds a file that exists only here.

-- Paths below the left side lead to the same paths below the right side.
local PATHS = {
  ["/etc/app"] = "/tmp/hermes-app",
}

-- The host:port that the program connects to, and where the connection really goes.
local CONNECTIONS = {
  ["127.0.0.1:5432"] = "127.0.0.1:15432",
}

-- Virtual files.
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
