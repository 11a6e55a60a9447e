-- Where a program may connect: to this machine always, to private networks and the cloud's metadata service never, to
-- everything else as OTHERWISE says.

local OTHERWISE = "deny" -- "allow", "deny" or "ask"

-- Always allowed. The name server is often in a private network: { ["192.168.0.53:53"] = true }
local ALLOWED = {}

-- The first address of a range, the number of its leading bits, and the reason of the refusal.
local BLOCKED = {
  { "169.254.0.0", 16, "Link-local addresses reach the cloud's metadata service." },
  { "10.0.0.0", 8, "Private networks are blocked." },
  { "172.16.0.0", 12, "Private networks are blocked." },
  { "192.168.0.0", 16, "Private networks are blocked." },
  { "100.64.0.0", 10, "Carrier networks are blocked." },
  { "224.0.0.0", 4, "Multicast addresses are blocked." },
  { "0.0.0.0", 8, "This network is another name for this machine." },
}
local BLOCKED_V6 = {
  ["fe80:"] = "Link-local addresses are blocked.",
  ["fc"] = "Private networks are blocked.",
  ["fd"] = "Private networks are blocked.",
  ["ff"] = "Multicast addresses are blocked.",
  ["64:ff9b:"] = "Translated addresses reach any IPv4 address.",
  ["2002:"] = "Tunnelled addresses reach any IPv4 address.",
}

hermes.name = "network-policy"
hermes.actions = { "deny", "ask" }

local function number(host)
  local a, b, c, d = host:match("^(%d+)%.(%d+)%.(%d+)%.(%d+)$")
  return tonumber(a) << 24 | tonumber(b) << 16 | tonumber(c) << 8 | tonumber(d)
end

local function inside(address, network, bits)
  local mask = 0xffffffff << (32 - bits) & 0xffffffff
  return address & mask == number(network) & mask
end

local function blocked(address)
  if address.family == "ipv6" then
    for prefix, reason in pairs(BLOCKED_V6) do
      if address.host:sub(1, #prefix) == prefix then return reason end
    end
    return nil
  end
  local n = number(address.host)
  for _, range in ipairs(BLOCKED) do
    if inside(n, range[1], range[2]) then return range[3] end
  end
end

local function loopback(address)
  if address.family == "ipv6" then return address.host == "::1" end
  return inside(number(address.host), "127.0.0.0", 8)
end

local function decide(address)
  if address.family == "unix" or address.family == "unspecified" or address.family == "netlink" then return end
  if address.family ~= "ipv4" and address.family ~= "ipv6" then
    return hermes.deny("Only internet and local sockets are allowed.")
  end
  if loopback(address) or ALLOWED[address.text] then return end
  local reason = blocked(address)
  if reason then return hermes.deny(address.text .. ": " .. reason) end
  if OTHERWISE == "allow" then return end
  if OTHERWISE == "ask" then return hermes.ask("May this program connect to " .. address.text .. "?") end
  return hermes.deny(address.text .. " is outside this machine.", "ENETUNREACH")
end

-- One sendmmsg can carry many addresses.
hermes.on("%connect", function(e)
  for _, address in ipairs(e.addresses) do decide(address) end
end)
