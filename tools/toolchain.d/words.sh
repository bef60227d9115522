# Sourced by recipe, complete and image.
words() { sed 's/#.*//' "$1" | tr -s ' \n' "$2"; } # words FILE SEPARATOR: a list without its comments
