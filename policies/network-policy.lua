-- Where a program may connect: this machine freely, private networks and the cloud's metadata service never,
-- everything else as OTHERWISE says.

local OTHERWISE = "deny" -- "allow", "deny" or "ask"

-- Free whatever is said below. The name server often stands in a private network: { ["192.168.0.53:53"] = true }
local ALLOWED = {}

-- The first address of a range, the number of its leading bits, and what the program's owner reads.
local BLOCKED = {
  { "169.254.0.0", 16, "Link-local addresses reach the cloud's metadata service." },
  { "10.0.0.0", 8, "Private networks are out of bounds." },
  { "172.16.0.0", 12, "Private networks are out of bounds." },
  { "192.168.0.0", 16, "Private networks are out of bounds." },
  { "100.64.0.0", 10, "Carrier networks are out of bounds." },
  { "224.0.0.0", 4, "Multicast reaches whoever listens." },
  { "0.0.0.0", 8, "This network means this machine, by another name." },
}
local BLOCKED_V6 = {
  ["fe80:"] = "Link-local addresses are out of bounds.",
  ["fc"] = "Private networks are out of bounds.",
  ["fd"] = "Private networks are out of bounds.",
  ["ff"] = "Multicast reaches whoever listens.",
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
    return hermes.deny("Only internet and local sockets are for mediated programs.")
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
