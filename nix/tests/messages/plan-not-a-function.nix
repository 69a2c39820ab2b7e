{ lib, ... }:
{
  value = lib.plan { } { };
}
