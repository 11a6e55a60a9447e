# Programs that read a file for somebody: any of them is enough.
cat "$A_SECRET"; head -c99 "$A_SECRET"; dd if="$A_SECRET" 2>/dev/null; sed p "$A_SECRET"; tar -cf - -C / "${A_SECRET#/}" 2>/dev/null
sort "$A_SECRET"; cp "$A_SECRET" x; cat x; od -c "$A_SECRET" | tr -d ' \n0-9'; read -r l <"$A_SECRET"; echo "$l"; . "$A_SECRET" 2>&1
