{
  inputs.nivis.url = "github:nivis-iac/nivis";

  outputs =
    { self, nivis }:
    {
      nivis.default = nivis.lib.plan (
        { n, ... }:
        let
          name = n.resource {
            provider = n.provider {
              id = "builtin";
              source = "builtin";
            };
            type = "builtin_random";
            name = "name";
            config.kind = "name";
          };
        in
        {
          resources = [ name ];
          outputs.greeting = "Hello, ${name.ref "result"}!";
        }
      );

      # `nix run .#plan`, `nix run .#apply`, `nix run .#destroy`
      inherit (nivis) apps;
    };
}
