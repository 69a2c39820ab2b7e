# The part of the repository at the given top-level names, so that other changes rebuild nothing: `source [ "src" … ]`.
names:
let
  root = toString ../.;
  top = path: builtins.head (builtins.filter builtins.isString (builtins.split "/" (below path)));
  below = path: builtins.substring (builtins.stringLength root + 1) (-1) path;
in
builtins.path {
  name = "nivis-source";
  path = ../.;
  filter = path: _: builtins.elem (top (toString path)) names;
}
