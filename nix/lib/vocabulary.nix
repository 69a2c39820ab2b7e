# What a stack's function gets as `n`.
let
  providers = import ./provider.nix;
  resources = import ./resource.nix;
  derives = import ./derive.nix;
  builds = import ./build.nix;
  conditions = import ./condition.nix;
  reference = import ./reference.nix;
in
{
  # `textOf key` is the text of a reference in the evaluation at hand, `ledger` what the executor knows.
  make =
    { textOf, ledger }:
    {
      /**
        Declares a provider: `provider { id; source; version ? null; config ? { }; meta ? null; }`.

        `source` is a package that contains the provider's program, a path to it, `"builtin"`, or a registry address such as
        `"hashicorp/random"`; `version` is a constraint for an address, such as `"~> 3.6"`. `config` is a tree like a resource's and may use outputs.

        The stack's provider list is optional: a provider is part of the stack when a resource uses it.
      */
      provider = providers.make;

      /**
        Declares a managed resource:
        `resource { provider; type; name; config ? { }; meta ? { }; }`.

        `provider` is a value made by `provider`. `config` is the tree of arguments the provider gets; its leaves are plain
        values, references, strings that interpolate references, `derive`, `drv`, `sensitive`, and Nix derivations.
        `meta` holds `dependsOn` (resources, data sources or ids),
        `lifecycle { preventDestroy; ignoreChanges; createBeforeDestroy; replaceTriggeredBy; }`, and conditions:
        - `preconditions`, a list of `{ condition; message; }`: what must hold before it is planned and changed;
        - `postconditions`, a list of the same, or a function from the resource itself to one
          (`self: [ { condition = n.derive (self.ref "port") (port: port > 1024); message = "…"; } ]`): what must hold of the
          result. What depends on it waits, and stays as it is if it does not.

        A condition is true or false, a reference or a `derive`; a message is a string, which may interpolate outputs.

        The value has `.id` and `.ref`; see `ref`.
      */
      resource = resources.resource textOf;

      /**
        Declares a data source, something that is read and not managed. Arguments as for `resource`; its `meta` is
        `dependsOn`, `preconditions` and `postconditions`.
      */
      data = resources.data textOf;

      /**
        Declares an ephemeral resource, such as a short-lived token: opened when a run needs it, renewed while the run goes
        on, closed in the end, and written down nowhere. Arguments as for `data`; list it under `data`.

        Its outputs can be used, as references or in strings, in configurations of providers and of other ephemeral
        resources, and in write-only attributes of resources.
      */
      ephemeral = resources.ephemeral textOf;

      /**
        Calls a function of a provider: `call { provider; function; name; arguments; }`, where `arguments` is a list of
        trees as in a configuration. List it under `data`; the result is the output `x.ref "result"`, which can be used as
        any other, and of which a part is `x.ref [ "result" "part" ]`.

        The executor calls the function as soon as the arguments are known; the provider need not be configured for that.
      */
      call = resources.call textOf;

      /**
        A reference to an output: `ref "<id>" path`, where `path` is the name of an output, or a list of names and
        positions that starts with one: `ref "net.net_host.a" [ "addresses" 0 ]`.

        `x.ref path` is the same for a resource `x`. A reference can be a leaf of a configuration, be interpolated into
        a string, or be an input of `derive`.
      */
      ref =
        id: path:
        if builtins.isString id && !(builtins.hasContext id) then
          reference.make textOf id path
        else
          throw "nivis.ref: the id must be a plain string; write `ref \"<provider>.<type>.<name>\" path`, or `x.ref path` for a resource `x`";

      /**
        A value that Nix computes from outputs: `derive inputs compute`.

        `inputs` is a reference, another `derive`, or an attribute set or list of these; `compute` gets the same shape
        with values in place of them, and gives anything a configuration can hold, builds and other references included.

        In the place of resources, under `resources` or `data` of the stack, it may give resources, in lists or sets: which ones there
        are then depends on outputs. They can be used by who makes the derive an input of a derive of their own. What is
        declared there before the outputs are known is planned and applied later in the same run, and asked about again.

        A derive over an output that is secret throws when the function looks at it; see `deriveSensitive`.
      */
      derive = derives.make ledger "derive";

      /**
        As `derive`, with a result that is sensitive. Over an output that is secret it stays pending here: Nix does not get
        to see the secret.
      */
      deriveSensitive = derives.make ledger "deriveSensitive";

      /**
        Something that should hold of the stack: `check { name; condition; message; }`, to be listed under `checks`. If it
        does not, plan and apply warn, and go on.
      */
      check = conditions.make;

      /**
        The output path of a build: `drv package`. The executor builds it before a provider gets the path.

        A package may stand in a configuration without `drv`; this is for saying so.
      */
      drv = package: builds.make "drv" package null;

      /**
        A file in the output of a build: `drvFile image "nixos.img"`.
      */
      drvFile = package: file: builds.make "drvFile" package file;

      /**
        Marks a value, or a tree of them, as sensitive: it is not shown. It is in the IR all the same, as everything that
        is written in Nix source is readable; a secret belongs into an output, a file or a variable.
      */
      sensitive = value: {
        _type = "nivis.sensitive";
        inherit value;
        __toString =
          _: throw "nivis.sensitive: a sensitive value is interpolated; mark the whole string: `sensitive \"…\"`";
      };

      /**
        One resource per key: `forEach set (key: value: resource { … })`, or `forEach [ "a" "b" ] (key: _: …)`.

        Gives the set of instances by key. The instance for key `a` of a resource named `web` is named `web__a`; in a key,
        ASCII other than letters, digits, `-` and `_` is written `%XX`, and so are `_` in front and after another `_`.
      */
      forEach = resources.forEach textOf;

      /**
        A number of resources: `count 3 (index: resource { … })`. Gives the list of instances, named `web__0` and so on.
      */
      count = resources.count textOf;
    };
}
