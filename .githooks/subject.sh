#!/bin/sh
# subject.sh: check subjects of commits, one per line of standard input. It prints each fault and exits with 1 if there
# is one. make lint checks the commits since the last change of this file. The form is "package: verb object": at most
# 72 characters, a lower-case topic or README, and a verb in the imperative.
awk '
function fault(text) { printf "commit subject: %s: %s\n", $0, text; bad = 1 }
/^(Merge|Revert|fixup!|squash!) / { next }
length($0) > 72 { fault("has " length($0) " characters: use at most 72") }
!/^(README|[a-z0-9][a-z0-9_., \/-]*): / {
  fault("has no topic: use \"package: verb object\", as in \"policy: round shares down\"")
  next
}
{
  text = $0
  sub(/^(README|[a-z0-9][a-z0-9_., \/-]*): /, "", text)
  split(text, words, " ")
  verb = words[1]
  if (verb !~ /^[a-z]/) fault("the verb begins with \"" substr(verb, 1, 1) "\": begin it with a lower-case letter")
  if (verb ~ /(ing|[a-z]ed)$/ && verb !~ /^(bring|ring|string|embed|feed|need|seed|shed|speed|bed)$/)
    fault("\"" verb "\" is not imperative: write \"add\", not \"added\" or \"adding\"")
  if (text ~ /\.$/) fault("ends with a period: remove it")
}
END { exit bad }
'
