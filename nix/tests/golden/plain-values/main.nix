# Every kind of plain value arrives as it was written.
(import ../../../lib).plan (
  { n, ... }:
  {
    resources.x = n.resource {
      provider = n.provider {
        id = "p";
        source = "builtin";
      };
      type = "t";
      name = "x";
      config = {
        text = "a \"quoted\" \\ text,\n\ttwo lines, é \${not} 🦀";
        empty = "";
        largest = 9223372036854775807;
        smallest = -9223372036854775807;
        half = 0.5;
        whole = 3.0;
        yes = true;
        no = false;
        nothing = null;
        list = [
          1
          "two"
          [ ]
          { }
        ];
        deep.er.still = [ { x = null; } ];
        like_a_string.__toString = self: "from toString";
        source = ./file.txt;
      };
    };
  }
)
