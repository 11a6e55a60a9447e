/**
 * Tools that keep data elsewhere: clouds, backups, databases, clusters, registries, services. One table by verb
 * covers them all: the guard asks about every verb that deletes. Tools with rows in other tables are listed here for
 * the verbs that those rows do not name.
 */
export const KEEPERS: ReadonlySet<string> = new Set(
  [
    "aws aws-nuke gcloud gsutil bq az azcopy doctl hcloud linode-cli vultr-cli scw oci ibmcloud aliyun openstack nova cinder glance swift neutron exo upctl civo ovhai tccli yc nebius lambda-cloud runpodctl vast vastai",
    "heroku fly flyctl vercel vc netlify ntl railway render wrangler firebase supabase neonctl neon pscale planetscale turso upstash atlas appwrite surge amplify copilot eb sam sst sls serverless cdk cdktf pulumi terraform tofu terragrunt packer nomad consul vault boundary waypoint",
    "kubectl oc helm helmfile argocd flux velero istioctl linkerd kops eksctl kubeadm rancher k3d kind minikube kustomize karmadactl clusterctl talosctl tkn argo crossplane",
    "restic borg borgmatic duplicity duplicacy duplicati-cli kopia rdiff-backup bup tarsnap rclone rsnapshot wal-g wal-e pgbackrest barman pg_probackup xtrabackup snapper timeshift tmutil proxmox-backup-client vzdump zfs zpool btrfs lvm bacula bconsole",
    "etcdctl redis-cli valkey-cli mongosh mongo influx cqlsh nodetool cbq couchbase-cli curator curator_cli elasticsearch-index kafka-topics kafka-topics.sh kafka-configs kafka-configs.sh kafka-consumer-groups kafka-consumer-groups.sh kafka-delete-records.sh kcat rabbitmqctl rabbitmqadmin nats pulsar-admin zkCli.sh rpk mc minio-client s3cmd s5cmd b2 mysqladmin flyway liquibase dbmate goose alembic knex typeorm sequelize sequelize-cli prisma drizzle-kit sqlx diesel sea-orm-cli wp drush hdfs hadoop yarn-cluster hive presto databricks dbt snowsql snow lakectl dvc mlflow airflow prefect dagster celery rq sidekiqctl wandb",
    "crictl ctr skopeo crane regctl oras buildah harbor lxc incus virsh vagrant VBoxManage multipass qm pct pveum pvesm esxcli govc prlctl limactl colima",
    "modal kamal gitlab-rails gitlab-rake cloudflare flarectl cf dnscontrol octodns route53 fastly akamai cdn-cli bunny haproxy nginx-cli traefik kong deck apigee tyk grafana-cli grafanactl promtool amtool splunk logcli loki opensearch algolia meilisearch typesense unleash flagsmith split postmark mailgun ses paddle square braintree chargebee doppler infisical sops gpg-vault onepassword tailscale zerotier-cli ansible-vault salt puppet chef knife drone woodpecker-cli argo-workflows spinnaker spin octopus tekton concourse fly-ci gocd teamcity bamboo",
    "elasticdump kibana-plugin fastlane gh glab hub tea huggingface-cli hf okta auth0 stripe twilio sentry-cli newrelic datadog-ci ddog pagerduty pd jenkins-cli circleci travis buildkite-agent launchdarkly ldcli algolia contentful sanity shopify hubspot mailchimp sendgrid zendesk linear jira op bw lpass",
  ]
    .join(" ")
    .split(" "),
);

const STRONG = "delete|destroy|purge|drop|wipe|erase|terminate|nuke|obliterate|decommission|forget|prune";
/** A verb, alone or in a compound: `apps:destroy`, `delete-bucket`, `DeleteInstance`, `dropDatabase`. */
export const DESTROYS = new RegExp(
  `(?:^|[:._-])(?:${STRONG}|del|rm|rmr|remove|rb|empty|flush|flushall|flushdb|reset|revoke|deregister|uninstall|undeploy|evict|truncate|clear|wipeall|deleteall|zap|drain|gc|detach|archive|suspend|deactivate|disable|cancel|down|downgrade|rollback|restore|expire|rotate|overwrite|unlink|leave|abort|kill|cleanup|clean|vacuum|compact|dropdb|nuke-all)(?:$|[:._-])|^(?:Delete|Destroy|Terminate|Purge|Remove|Release)[A-Z]|(?:^|[a-z])(?:Delete|Destroy|Drop|Purge)(?:$|[A-Z])|^deletelocalsnapshots$`,
);
/** The same as an option: `--delete-all`, `--remove-older-than`. */
export const DESTROYS_BY_OPTION = new RegExp(`^--(?:${STRONG}|remove|flush)(?:-|$)|^-rm$|^--force-reset$`);
/** Verbs that mean deletion even in an unknown tool. */
export const DESTROYS_FOR_SURE = new RegExp(
  `(?:^|[:])(?:${STRONG.replace("|drop", "").replace("|forget|prune", "")})(?:$|[:])`,
);

/** Local state of a tool: removing it loses nothing. */
export const OWN_THINGS =
  /^(plugin|alias|cache|completion|context|channel|bookmark|autocomplete|config|telemetry|theme|extension)$/;
/** Lists of sources to fetch from: there, `remove` only changes the list. */
export const SOURCE_LISTS = /^(repo|repos|remote|tap|source)$/;
