{ n, provider, make, a, ... }:
{
  ledger.vars.x = {
    from = "--var";
    text = "1";
  };
}
// {
  stack = { };
}
