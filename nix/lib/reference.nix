# References: how the use of an output is written down, and how Nix itself tracks it through strings.
#
# The string of a reference carries a string context: an output, named after the reference, of one imaginary derivation,
# the anchor. README.md, "References", has the reasons.
let
  inherit (builtins)
    appendContext
    concatMap
    concatStringsSep
    elemAt
    filter
    fromJSON
    genList
    hasContext
    head
    isInt
    isList
    isString
    length
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

  # An output of the anchor is named by the JSON list of an id and the steps of a path; "!" separates the parts of a context
  # in Nix and is escaped.
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
  filler = private "3";
  listMark = private "4";
  # All of them start with these bytes.
  fragmentMark = substring 0 3 opening;

  # An id of ASCII is stretched, so that a piece of it is recognised whichever way it is cut.
  stretch = id: if match "[ -~\n\t\r]*" id != null then replaceStrings [ "" ] [ filler ] id else id;

  # A path as one text: a name as it is, more as marked JSON.
  codeOf = steps: listMark + toJSON steps;

  # Characters that string functions like to change, one by one and in pairs, before and after a placeholder. They are
  # stretched too: who splits at one of them is left with a piece that is recognised.
  hostileStart = stretch "aZ09 \n/.-_\"'\\$" + "é" + stretch "{}()[]<>&|;:,*?!#%@^~`+=\t\r" + "//..--__  ";
  hostileEnd = "é  __--..//" + stretch "\n ";

  # A witness is an id and a path, each between DELs. JSON leaves them alone, so that in JSON text of witnesses a DEL can
  # become the border between two strings.
  del = fromJSON "\"\\u007f\"";
  borders = [ del ];
  border = [ "\",\"" ];

  # What is the same in all placeholders of one resource, and in all placeholders.
  placeholderStart = id: hostileStart + opening + stretch id + comma;
  placeholderEnd = closing + hostileEnd;

  stepIsValid = step: (isString step && !(hasContext step)) || (isInt step && step >= 0);
  describeStep = step: if isString step then "a string that depends on an output" else internal._describe step;

  # Steps of a path, checked.
  stepsOf =
    path:
    let
      steps = if isList path then path else [ path ];
      wrong = filter (step: !(stepIsValid step)) steps;
    in
    if steps == [ ] then
      throw "nivis.ref: the path is empty; name an output, such as `ref \"id\"`"
    else if wrong != [ ] then
      throw "nivis.ref: a path step is ${describeStep (head wrong)}; steps are plain strings and integers from 0, choose by an output inside `derive`"
    else if !(isString (head steps)) then
      throw "nivis.ref: the first path step is an integer; start with the name of an output, such as `ref [ \"items\" ${toString (head steps)} ]`"
    else
      steps;

  # `<id>.<step>.<step>`, for people.
  show =
    { resource, path }:
    if tail path == [ ] then
      "${resource}.${head path}"
    else
      concatStringsSep "." ([ resource ] ++ map toString path);

  # What stands at a place in the pieces that `template` cuts a string into: { ref; shown; }, the second as by `show`.
  referenceAt =
    pieces: i:
    let
      resource = elemAt pieces i;
      code = elemAt pieces (i + 1);
      ref = {
        inherit resource;
        path = fromJSON (substring 4 (-1) code);
      };
    in
    if substring 0 4 code == listMark then
      {
        inherit ref;
        shown = show ref;
      }
    else
      {
        ref = {
          inherit resource;
          path = [ code ];
        };
        shown = "${resource}.${code}";
      };
  textOrNothing = text: if text == "" then [ ] else [ text ];

  # `template`, for two references and for any number: nearly all strings have one or two, and there may be very many.
  two =
    startOf: text: pieces:
    let
      first = head pieces;
      a = referenceAt pieces 1;
      b = referenceAt pieces 4;
      middle = elemAt pieces 3;
      last = elemAt pieces 6;
      isOnce = elemAt pieces 2 == elemAt pieces 5 && a.ref.resource == b.ref.resource;
      refA = {
        __ref = a.ref;
      };
      refB = {
        __ref = b.ref;
      };
    in
    if
      "${first}${startOf a.ref.resource}${elemAt pieces 2}${placeholderEnd}${middle}${startOf b.ref.resource}${elemAt pieces 5}${placeholderEnd}${last}"
      == text
    then
      {
        inputs = if isOnce then [ a.shown ] else [ a.shown b.shown ];
        refs = if isOnce then [ a.ref ] else [ a.ref b.ref ];
        template =
          if first == "" || middle == "" || last == "" then
            textOrNothing first ++ [ refA ] ++ textOrNothing middle ++ [ refB ] ++ textOrNothing last
          else
            [
              first
              refA
              middle
              refB
              last
            ];
      }
    else
      null;

  many =
    startOf: text: pieces:
    let
      first = head pieces;
      count = length pieces / 3;
      indices = genList (i: 3 * i + 1) count;
      refs = internal._uniqueBy toJSON (map (i: (referenceAt pieces i).ref) indices);
      placed =
        i: startOf (elemAt pieces i) + elemAt pieces (i + 1) + placeholderEnd + elemAt pieces (i + 2);
    in
    if
      count > 0
      && length pieces == 3 * count + 1
      && concatStringsSep "" ([ first ] ++ map placed indices) == text
    then
      {
        inherit refs;
        inputs = map show refs;
        template =
          textOrNothing first
          ++ concatMap (
            i: [ { __ref = (referenceAt pieces i).ref; } ] ++ textOrNothing (elemAt pieces (i + 2))
          ) indices;
      }
    else
      null;
in
{
  inherit
    anchorPath
    decode
    placeholderStart
    show
    ;

  # What references to sensitive variables name: an object that the executor has, one attribute for each of them.
  variables = "var";

  # The texts of references in one evaluation, as a function of the id: { start; end; } around the code of a path, or
  # { textOf; }, a function of the code and the steps.
  #
  # The context of a placeholder says only whose output it is, which one set per resource is enough for.
  placeholder = id: {
    start = appendContext (placeholderStart id) { ${anchorPath}.outputs = [ "[${quote id}]" ]; };
    end = placeholderEnd;
  };
  # The same text, with a context that says which output.
  exact =
    id:
    let
      start = placeholderStart id;
      quoted = quote id;
    in
    {
      textOf =
        code: steps:
        appendContext (start + code + placeholderEnd) {
          ${anchorPath}.outputs = [ "[${quoted},${concatStringsSep "," (map quote steps)}]" ];
        };
    };
  # Without context: it is compared as text, and the evaluation with placeholders has gone well by then.
  witness = id: {
    start = del + id + del;
    end = del;
  };

  # References to the outputs of one resource: a function of the path. `textsOf` is one of the above.
  make =
    textsOf: resource:
    let
      texts = textsOf resource;
      inherit (texts) start end;
      textOf = texts.textOf or (code: _: start + code + end);
      hasEnds = texts ? start;
    in
    path:
    if isString path && !(hasContext path) then
      {
        _type = "nivis.ref";
        __ref = {
          inherit resource;
          path = [ path ];
        };
        __toString = _: if hasEnds then "${start}${path}${end}" else textOf path [ path ];
      }
    else
      let
        steps = stepsOf path;
      in
      {
        _type = "nivis.ref";
        __ref = {
          inherit resource;
          path = steps;
        };
        __toString = _: textOf (codeOf steps) steps;
      };

  # Keys of the references a string was made from; `context` is its `getContext`, in the evaluation with exact texts.
  keysOf = context: context.${anchorPath}.outputs or [ ];

  # If `text`, with placeholders, is the concatenation that `witness` is: `__derived` of the IR, with the references, each once,
  # and the parts of the template, which are texts and references. Otherwise, the author did more than to concatenate, and
  # this is null.
  # `startOf` is `placeholderStart`, as far as possible from a table.
  template =
    startOf: text: witness:
    let
      # A text, then for each reference an id, the code of a path, and the text after it.
      pieces = fromJSON "[${replaceStrings borders border (toJSON (unsafeDiscardStringContext witness))}]";
      count = length pieces;
      # Of one reference.
      first = head pieces;
      last = elemAt pieces 3;
      only = referenceAt pieces 1;
    in
    if count == 7 then
      two startOf text pieces
    else if count != 4 then
      many startOf text pieces
    else if "${first}${startOf only.ref.resource}${elemAt pieces 2}${placeholderEnd}${last}" == text then
      {
        inputs = [ only.shown ];
        refs = [ only.ref ];
        template =
          if first == "" || last == "" then
            textOrNothing first ++ [ { __ref = only.ref; } ] ++ textOrNothing last
          else
            [
              first
              { __ref = only.ref; }
              last
            ];
      }
    else
      null;

  # Is there a piece of a placeholder in this text? It means that the context was lost on the way.
  hasFragment = text: replaceStrings [ fragmentMark ] [ "" ] text != text;
}
