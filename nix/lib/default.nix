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
    - `resources` and `data`: what `n.resource` and `n.data` made, in lists or attribute sets, nested as you like; a `derive`
      among them may give more of them;
    - `providers`: what `n.provider` made; optional for providers that a resource uses;
    - `outputs`: an attribute set of values, or of `{ value; sensitive ? false; description ? null; }`;
    - `variables`: what the stack takes from outside, by name:
      `{ type ? "any"; default; description; validation; sensitive ? false; nullable ? true; }`, all optional. `vars` has
      their values; of a sensitive one it has a reference. README.md, "Variables", has the types;
    - `checks`: what `n.check` made, in lists or attribute sets;
    - `backend`, `moved`, `removed`, `imports`: as in docs/IR-CONTRACT.md, with resources in place of ids if you like.

    Gives the function `{ ledger ? null, secrets ? null, ... }: IR`, whose arguments are paths of the executor's files as
    strings; docs/IR-CONTRACT.md, "The plan function".
  */
  plan =
    stack:
    {
      ledger ? null,
      secrets ? null,
      ...
    }:
    ir.make (ledgers.read ledger secrets) stack;

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
