args: import ../coder/stack.nix (args // { provider = "coder6"; })
