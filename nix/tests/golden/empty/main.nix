# A stack of nothing.
(import ../../../lib).plan (_: { })
