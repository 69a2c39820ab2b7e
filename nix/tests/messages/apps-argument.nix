{ lib, ... }:
{
  value = lib.mkApps { package = 1; };
}
