{ lib, ... }:
{
  value = lib.mkApps {
    pkgs = { };
    nivis = "";
    stack = "a b";
  };
}
