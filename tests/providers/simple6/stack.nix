args: import ../simple/stack.nix (args // { provider = "simple6"; })
