# The IR of the plan in a file, as the executor asks for it.
{ file, ledger }:
import ../call.nix {
  inherit file ledger;
  origin = "'${file}'";
}
