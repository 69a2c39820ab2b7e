# The quick start: what `nix run .#apply` applies. It needs no account, no network and no provider but the one in nivis.
(import ../../nix/lib).plan (
  { n, ... }:
  let
    builtin = n.provider {
      id = "builtin";
      source = "builtin";
    };

    # A name like "calm-otter", drawn once and kept in the state.
    name = n.resource {
      provider = builtin;
      type = "builtin_random";
      name = "name";
      config = {
        kind = "name";
        length = 2;
      };
    };

    dice = n.resource {
      provider = builtin;
      type = "builtin_random";
      name = "dice";
      config = {
        kind = "integer";
        min = 1;
        max = 6;
      };
    };

    # Computed by Nix once the dice have been rolled.
    luck = n.derive { rolled = dice.ref "number"; } (
      { rolled }: if rolled > 3 then "lucky" else "patient"
    );

    page = n.resource {
      provider = builtin;
      type = "builtin_file";
      name = "page";
      config = {
        # An output is used like a string, and the order follows from that.
        filename = "./nivis-demo/${name.ref "result"}.txt";
        content = n.derive {
          inherit luck;
          name = name.ref "result";
        } ({ luck, name }: "Hello, ${luck} ${name}!\n");
      };
    };
  in
  {
    resources = {
      inherit name dice page;
    };
    outputs = {
      page = page.ref "filename";
      greeting = "Hello, ${name.ref "result"}!";
      inherit luck;
    };
  }
)
