function on_syscall(name, args)
    if name == "Connect" then
        print("Blocked connection attempt to restricted subnet.")
        return "BLOCK"
    end
    return "ALLOW"
end
