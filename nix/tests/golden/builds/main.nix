# Builds in a configuration: as leaves, and mentioned inside of strings.
(import ../../../lib).plan (
  { n, ... }:
  let
    provider = n.provider {
      id = "p";
      source = "builtin";
    };
    package =
      name:
      derivation {
        inherit name;
        system = "x86_64-linux";
        builder = "/bin/sh";
        outputs = [
          "out"
          "dev"
        ];
      };
    image = package "image";
    tool = package "tool";
    a = n.resource {
      inherit provider;
      type = "t";
      name = "a";
      config = {
        drv = n.drv image;
        file = n.drvFile image "nixos.img";
        output = n.drv image.dev;
        string = n.drv "${image}/sub";
        itself = image;
        command = "${tool}/bin/tool ${image.dev}/include ${image}";
        source = n.drv ./file.txt;
        # Only the path of the recipe: nothing to build.
        recipe = builtins.unsafeDiscardOutputDependency tool.drvPath;
      };
    };
    b = n.resource {
      inherit provider;
      type = "t";
      name = "b";
      config = {
        mixed = "${tool}/bin/tool ${a.ref "id"}";
        computed = builtins.toJSON { args = "${tool}/bin/tool ${a.ref "id"}"; };
      };
    };
  in
  {
    resources = [
      a
      b
    ];
    outputs = {
      image = image;
      tool = "${tool}/bin/tool";
    };
  }
)
