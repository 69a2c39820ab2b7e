# A build in the middle of the graph: Nix builds a file from an output, and a resource takes the file.
#
#   nivis apply --file examples/build
(import ../../nix/lib).plan (
  { n, ... }:
  let
    builtin = n.provider {
      id = "builtin";
      source = "builtin";
    };

    name = n.resource {
      provider = builtin;
      type = "builtin_random";
      name = "name";
      config.kind = "name";
    };

    # Any derivation will do, such as a NixOS image; this one needs nothing but a shell.
    page =
      host:
      derivation {
        name = "page";
        system = builtins.currentSystem;
        builder = "/bin/sh";
        args = [
          "-c"
          "echo '<h1>${host}</h1>' > $out"
        ];
      };

    site = n.resource {
      provider = builtin;
      type = "builtin_data";
      name = "site";
      # Outside of `derive` Nix would refuse: the name is not known before the first resource is there.
      config.input.page = n.derive { host = name.ref "result"; } ({ host }: page host);
    };
  in
  {
    resources = [
      name
      site
    ];
    outputs.page = site.ref [
      "output"
      "page"
    ];
  }
)
