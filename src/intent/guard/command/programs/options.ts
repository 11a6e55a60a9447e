import { optionTable } from "../arguments.js";

/** Options with a value, by program. Without this table, a value would count as an operand. */
export const programOptions = optionTable({
  git: "-C -c --git-dir --work-tree --namespace --exec-path -m -F --message -b -B -n --depth --branch --author --date --format --pretty --since --until --grep -S -G -L -o --origin --reference --separate-git-dir -u --upload-pack --strategy -X --onto -s --config-env --file --pathspec-from-file",
  "docker podman nerdctl docker-compose":
    "-e -u -w -v -p -l -h -m -c -H -f --env --user --workdir --volume --publish --name --network --net --entrypoint --env-file --label --hostname --memory --cpus --platform --mount --gpus --add-host --cap-add --cap-drop --device --security-opt --pid --ipc --restart --host --context --config --file --project-name --profile --log-level --tag --build-arg --target --filter --format --since --until --tail -n --userns --cgroupns --uts",
  "kubectl oc k3s helm":
    "-n -c -f -o -l --namespace --container --context --kubeconfig --image --as --cluster --user --server --token --selector --filename --output --overrides --values --set --version --kube-context --repo --timeout --replicas --tail --since --for --address --port",
  "redis-server": "--bind --protected-mode --port --dir --requirepass",
  "npm pnpm yarn npx bun":
    "--prefix -C -w --workspace --registry --otp --tag --cwd --filter --cache --loglevel --userconfig --dir",
  "pip pip3 uv":
    "-r -c -e -i -t --requirement --constraint --editable --index-url --extra-index-url --target --prefix --find-links -f --root --python --trusted-host --proxy --index -p",
  cargo:
    "--manifest-path -p --package --features --target -j --jobs --bin --example --profile --color --git --branch --tag --rev --path --version --registry --index --token",
  "apt apt-get aptitude dnf yum": "-o -t -c --target-release --option",
  aws: "--profile --region --output --endpoint-url --query --cli-input-json --ca-bundle",
  gcloud:
    "--project --account --region --zone --format --filter --configuration --impersonate-service-account --verbosity",
  az: "-g -n -o -s --resource-group --name --output --subscription --query --location -l",
  "terraform tofu terragrunt":
    "-var -var-file -target -state -out -backend-config -lock-timeout -parallelism",
  "gh glab":
    "-R --repo -b --body -t --title -F -f --field --raw-field -X --method -H --header -q --jq -B --base -L --limit -l --label -a --assignee -r --reviewer --hostname -d --description -N --notes",
  curl: "-A -b -c -C -d -D -e -E -F -H -K -m -o -r -T -u -U -w -x -X -y -Y -z --user-agent --cookie --cookie-jar --data --data-raw --data-binary --data-urlencode --dump-header --referer --cert --form --form-string --header --config --max-time --connect-timeout --output --range --upload-file --user --proxy --write-out --request --retry --retry-delay --retry-max-time --cacert --key --resolve --interface --json --url --url-query --max-redirs --limit-rate --socks5 --socks5-hostname --preproxy --unix-socket --aws-sigv4 --output-dir --oauth2-bearer --ciphers --connect-to --doh-url --noproxy --netrc-file --pinnedpubkey --tls-max --variable",
  wget: "-o -a -e -i -B -t -O -T -w -Q -P -U -l -A -R -D -I -X --output-document --output-file --append-output --input-file --tries --timeout --wait --quota --directory-prefix --user --password --header --user-agent --post-data --post-file --body-data --body-file --method --referer --load-cookies --save-cookies --execute --certificate --private-key --ca-certificate --limit-rate --level --accept --reject",
  "http https xh": "--auth -a --auth-type --session --output -o --download --timeout --verify --proxy",
  "systemctl service":
    "-t -p -n -o -H -M --type --property --lines --output --host --machine --state --signal -s --kill-who",
  "kill pkill killall": "-s -n --signal -u -U -g -G -t -P --pidfile -F --user --euid -o -y",
  "chmod chown chgrp": "--reference --from",
  "ssh scp sftp rsync":
    "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -P -Q -R -S -W -w -f -T --exclude --include --rsh --bwlimit --files-from --exclude-from --filter --backup-dir --suffix --chmod --chown --port --log-file --partial-dir --timeout --max-size --min-size",
  find: "-name -iname -path -ipath -wholename -regex -iregex -type -maxdepth -mindepth -mtime -mmin -atime -ctime -newer -size -user -group -perm -samefile -lname -links -inum -printf -fprintf -fprint -fls -newermt -cmin -amin -regextype -fstype",
  "grep egrep fgrep zgrep ggrep":
    "-e -f -m -A -B -C -d -D --include --exclude --exclude-dir --exclude-from --regexp --file --max-count --color --context --label",
  rg: "-e -f -m -A -B -C -g -t -T -M -j -r -d -E --glob --type --type-not --max-count --regexp --file --replace --max-depth --sort --pre --pre-glob --iglob --ignore-file --colors --max-columns --context --engine --path-separator --encoding --hostname-bin",
  "ag ack": "-A -B -C -m -G --ignore --ignore-dir --type",
  "sed gsed": "-e -f -l --expression --file --line-length",
  "awk gawk mawk nawk": "-F -v -f --assign --field-separator --file",
  "cp mv ln": "-t -S --target-directory --suffix -m -o -g --mode --owner --group --backup",
  "head tail": "-n -c --lines --bytes --pid -s",
  "cut sort uniq column paste join comm nl fold fmt pr":
    "-d -f -c -b -k -t -o -S -T -n -s -w -i -N --delimiter --fields --characters --key --field-separator --output --buffer-size --temporary-directory --separator",
  "tar bsdtar gtar":
    "-f -C -X -T -I -b --file --directory --exclude --exclude-from --files-from --transform --strip-components --use-compress-program --checkpoint-action --to-command --owner --group --mode --exclude-vcs-ignores --one-top-level",
  cpio: "-D -F -I -O -E -H -C --directory --file",
  zip: "-x -i -b -t -tt -n -P",
  unzip: "-d -x -P",
  "7z 7za 7zr": "",
  "psql pg_dump pg_restore pg_dumpall createdb dropdb createuser dropuser":
    "-c -f -d -h -p -U -v -o -F -R -P -T -t -n -j --command --file --dbname --host --port --username --set --variable --output --table --schema --format --maintenance-db",
  "mysql mariadb mysqldump mysqladmin mariadb-dump":
    "-e -h -u -P -D -S --execute --host --user --port --database --socket --defaults-file --where --protocol",
  sqlite3: "-separator -init -cmd -nullvalue",
  sqlcmd: "-S -d -U -P -Q -q -i -o",
  "mongo mongosh": "--eval --host --port -u -p --username --password --authenticationDatabase --file -f",
  "redis-cli valkey-cli": "-h -p -a -n -u -r -i -s --user --pass",
  "clickhouse-client clickhouse": "-q --query -h --host -u --user -d --database --port --password",
  duckdb: "-c -s -cmd -init",
  bq: "--project_id --dataset_id --location --format",
  "nmap masscan": "-p -oN -oX -oG -oA -T -iL --script --top-ports --min-rate --exclude -e -S -D",
  "nc ncat netcat": "-e -c -g -G -i -o -O -p -q -s -T -V -w -W -x -X -I --exec --sh-exec --proxy --ssl-cert",
  dd: "",
  crontab: "-u",
  "at batch": "-f -q -t",
  "useradd usermod adduser": "-c -d -e -f -g -G -k -K -m -p -r -s -u -U -l -L",
  tee: "",
  touch: "-d -r -t --date --reference",
  mkdir: "-m --mode",
  truncate: "-s -r --size --reference",
  shred: "-n -s --iterations --size --random-source",
  install: "-m -o -g -t --mode --owner --group --target-directory",
  php: "-S -t -r -d -c",
  fallocate: "-l -o --length",
  openssl:
    "-in -out -key -cert -CAfile -days -subj -newkey -keyout -pass -passin -passout -connect -host -port -servername -k -K -iv -config -inkey -certfile -name -extensions -extfile",
  "gpg gpg2":
    "-u -r -o --local-user --recipient --output --homedir --keyserver --passphrase --batch-file --pinentry-mode",
  "make gmake": "-f -C -j -I -o -W -l --file --makefile --directory --jobs --include-dir --eval",
  "node nodejs":
    "-e -p -r -c --eval --print --require --import --loader --env-file --inspect --title --conditions -C",
  "python python3": "-c -m -W -X --directory -d --bind -b",
  "jupyter code-server": "--ip --port --bind-addr --host --notebook-dir",
  "restic borg kopia": "-r --repo --password-file -p -o --tag --host --keep-last --keep-daily --keep-weekly",
  "iptables ip6tables": "-t -A -D -I -R -p -s -d -i -o -j -m --dport --sport -N -X -P -F",
  ip: "-n -f",
  sysctl: "-p -r",
  adb: "-s -H -P",
  vault: "-address -namespace -format -field",
  "ansible ansible-playbook":
    "-i -m -a -e -l -u -t --inventory --extra-vars --limit --tags --vault-password-file",
  "heroku fly flyctl": "-a --app -r --remote -c --config",
  "vercel netlify railway wrangler firebase":
    "--token -t --scope --site --project --env -e -c --config --name --only -P --auth --dir -d --alias -m --message",
  journalctl:
    "-u -n -p -o -S -U -t -b --unit --lines --since --until --vacuum-size --vacuum-time --vacuum-files",
  "convert magick ffmpeg": "-i -c -b -r -s -f -t -ss -vf -af -crf -preset -map",
  "jq yq": "--arg --argjson --slurpfile --rawfile --indent -L --tab -f --from-file",
  pandoc: "-o -f -t --output --from --to --template --metadata",
  "gcc g++ clang clang++ cc c++": "-o -I -L -l -D -x -include -isystem -MF -MT",
  "ld as ar": "-o -L -l",
  go: "-C",
  "du df ls tree stat":
    "-d -L -I -P --max-depth --exclude -t --block-size -c --format --printf --sort --time --color",
  "diff sdiff colordiff patch":
    "-U -C -x -X -I -p -i -d -o -D -B --exclude --unified --context --input --directory --output --strip",
});
