# The library: `import ./nix/lib`, or `nivis.lib` of the flake. Plain Nix, nothing but `builtins`; it takes no arguments.
let
  apps = import ./apps.nix;
  ir = import ./ir.nix;
  ledgers = import ./ledger.nix;
in
{
  /**
    Makes a stack from its function: `plan ({ n, ... }: { resources = …; outputs = …; })`.

    The function gets `n`, the vocabulary (vocabulary.nix documents it), and `vars`, the values of variables. It gives
    - `resources` and `data`: what `n.resource` and `n.data` made, in lists or attribute sets, nested as you like;
    - `providers`: what `n.provider` made; optional for providers that a resource uses;
    - `outputs`: an attribute set of values, or of `{ value; sensitive ? false; description ? null; }`;
    - `backend`, `moved`, `removed`, `imports`: as in docs/IR-CONTRACT.md, with resources in place of ids if you like.

    Gives the function `{ ledger ? null, ... }: IR`, where `ledger` is the path of the executor's ledger as a string.
  */
  plan =
    stack:
    {
      ledger ? null,
      ...
    }:
    ir.make (ledgers.read ledger) stack;

  /**
    The IR of a stack's function for a ledger given as a value: `toIR { outputs = { }; } stack`. `toIR { } stack` is the
    first phase.
  */
  toIR = ir.make;

  /**
    The apps of a flake, for one system: `mkApps { pkgs; nivis; stack ? "default"; }` gives `plan`, `apply`, `destroy`,
    `show`, `output` and `validate`. Each runs the package `nivis` on the stack `nivis.<stack>` of the flake in the current
    folder and passes its arguments on.
  */
  mkApps = apps.make;
}
