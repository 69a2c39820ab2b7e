# References: how the use of an output is written down, and how Nix itself tracks it through strings.
#
# The string of a reference carries a string context: an output, named after the reference, of one imaginary derivation,
# the anchor. README.md, "References", has the reasons.
let
  inherit (builtins)
    appendContext
    concatStringsSep
    filter
    fromJSON
    hasContext
    head
    isInt
    isList
    isString
    match
    replaceStrings
    seq
    substring
    tail
    toJSON
    unsafeDiscardStringContext
    ;
  internal = import ./internal.nix;

  anchor = derivation {
    name = "nivis-ref";
    system = "builtin";
    builder = "none";
  };
  # `seq` makes the store know the derivation, which `appendContext` asks for when the store is writable.
  anchorPath = seq anchor.drvPath (unsafeDiscardStringContext anchor.drvPath);

  # The key of a reference is the JSON list of its id and path, which keeps any id and path apart. It names an output of
  # the anchor; "!" separates the parts of a context in Nix and is escaped.
  quote = value: replaceStrings [ "!" ] [ "\\u0021" ] (toJSON value);
  decode =
    key:
    let
      parts = fromJSON key;
    in
    {
      resource = head parts;
      path = tail parts;
    };

  # Characters of the supplementary private-use area, U+10FE10 and on. No font or file is known to use that block, unlike
  # the basic private-use area.
  private = digit: fromJSON "\"\\udbff\\ude1${digit}\"";
  opening = private "0";
  comma = private "1";
  closing = private "2";
  quotation = private "3";
  backslash = private "4";
  filler = private "5";
  # All of them start with these bytes.
  fragmentMark = substring 0 3 opening;

  # JSON text in the form it has inside of a placeholder: what JSON would escape again is replaced, and an id of ASCII is
  # stretched, so that a fragment is recognised whichever way it is cut.
  hide = replaceStrings [ "\"" "\\" ] [ quotation backslash ];
  hideId =
    json:
    if match "[ -~]*" json != null then
      replaceStrings [ "\"" "\\" "" ] [ quotation backslash filler ] json
    else
      hide json;

  hidden = [
    opening
    comma
    closing
    quotation
    backslash
    filler
  ];

  # A witness is made of characters that string functions like to change, and the key.
  hostile = " \n/.-_aZ09éß\"'\\$" + "{}()[]<>&|;:,*?!#%@^~`+=\t\r//..--__  ";
  asWitness = replaceStrings hidden [ "${hostile}[" "," "]${hostile}" "\"" "\\" "" ];

  # Inside of a JSON string: ends the string, goes on with a reference, starts the next string.
  asTemplate = replaceStrings hidden [ "\",{\"__ref\":{\"resource\":" ",\"path\":[" "]}},\"" "\"" "\\" "" ];

  stepIsValid = step: (isString step && !(hasContext step)) || (isInt step && step >= 0);
  describeStep = step: if isString step then "a string that depends on an output" else internal._describe step;

  # Steps of a path, checked.
  stepsOf =
    path:
    let
      steps = if isList path then path else [ path ];
      wrong = filter (step: !(stepIsValid step)) steps;
    in
    if isString path && !(hasContext path) then
      steps
    else if steps == [ ] then
      throw "nivis.ref: the path is empty; name an output, such as `ref \"id\"`"
    else if wrong != [ ] then
      throw "nivis.ref: a path step is ${describeStep (head wrong)}; steps are plain strings and integers from 0, choose by an output inside `derive`"
    else if !(isString (head steps)) then
      throw "nivis.ref: the first path step is an integer; start with the name of an output, such as `ref [ \"items\" ${toString (head steps)} ]`"
    else
      steps;
in
{
  inherit anchorPath decode;

  # The texts of a reference; see `make`.
  placeholder = key: code: appendContext (opening + code + closing) { ${anchorPath}.outputs = [ key ]; };
  # Without context: it is compared as text, and the evaluation with placeholders has gone well by then.
  witness = key: _: hostile + key + hostile;

  # References to the outputs of one resource: a function of the path. `textOf key code` is the text of a reference in the
  # evaluation at hand, where `code` is the key in the form for placeholders.
  make =
    textOf: resource:
    let
      id = quote resource;
      idCode = hideId id + comma;
    in
    path:
    let
      steps = stepsOf path;
      names = concatStringsSep "," (map quote steps);
      key = "[${id},${names}]";
      text = textOf key (idCode + hide names);
    in
    {
      _type = "nivis.ref";
      inherit key;
      __ref = {
        inherit resource;
        path = steps;
      };
      __toString = _: text;
    };

  # Keys of the references a string was made from; `context` is its `getContext`.
  keysOf = context: context.${anchorPath}.outputs or [ ];

  # Is `witness` what `text`, with placeholders, becomes by putting witnesses in their place? Then the author did nothing
  # but concatenate.
  isConcatenation = text: witness: asWitness text == unsafeDiscardStringContext witness;

  # The strings and reference leaves that a concatenation consists of.
  partsOf = text: filter (part: part != "") (fromJSON "[${asTemplate (toJSON text)}]");

  # `<id>.<step>.<step>`, for people.
  show =
    { resource, path }:
    if tail path == [ ] then
      "${resource}.${head path}"
    else
      concatStringsSep "." ([ resource ] ++ map toString path);

  # Is there a piece of a placeholder in this text? It means that the context was lost on the way.
  hasFragment = text: replaceStrings [ fragmentMark ] [ "" ] text != text;
}
