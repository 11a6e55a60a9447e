/**
 * Secrets with a recognizable format. `anchor` is the text that each of them starts with: a plain search finds it, so
 * a megabyte without it costs next to nothing. `pattern` is matched only there, and is bounded.
 */
interface SecretFormat {
  readonly rule: string;
  readonly what: string;
  readonly anchors: readonly string[];
  readonly pattern: RegExp;
}

const A = "[A-Za-z0-9]";
const W = "[A-Za-z0-9_-]";

function format(rule: string, what: string, anchors: string, rest: string): SecretFormat {
  const list = anchors.split(" ");
  const start = list.map((anchor) => anchor.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")).join("|");
  return { rule, what, anchors: list, pattern: new RegExp(`(?:${start})${rest}`, "y") };
}

export const SECRET_FORMATS: readonly SecretFormat[] = [
  // Models
  format("anthropic-key", "an Anthropic key", "sk-ant-", `${W}{20,200}`),
  format("openrouter-key", "an OpenRouter key", "sk-or-", `${W}{20,200}`),
  format("openai-key", "an OpenAI key", "sk-proj- sk-svcacct- sk-admin- sk-None-", `${W}{20,250}`),
  format("sk-key", "a secret key", "sk-", `(?!ssh-|ecdsa-)(?=${W}{0,80}[0-9])${A}${W}{19,150}`),
  format("google-key", "a Google API key", "AIza", `${W}{33,40}`),
  format("google-oauth", "a Google OAuth credential", "ya29. GOCSPX- 1//0", `${W}{20,300}`),
  format("hugging-face-token", "a Hugging Face token", "hf_ api_org_", `${A}{30,60}`),
  format("replicate-token", "a Replicate token", "r8_", `${A}{32,50}`),
  format("groq-key", "a Groq key", "gsk_", `${A}{40,80}`),
  format("perplexity-key", "a Perplexity key", "pplx-", `${A}{32,80}`),
  format("xai-key", "an xAI key", "xai-", `${A}{40,120}`),
  format("nvidia-key", "an NVIDIA key", "nvapi-", `${W}{40,120}`),
  format("search-key", "a key of a search service", "tvly- fc- BSA", `(?:dev-)?${W}{24,60}`),
  format("langsmith-key", "a LangSmith key", "lsv2_", `(?:pt|sk)_${A}{20,60}_${A}{6,20}`),
  format("pinecone-key", "a Pinecone key", "pcsk_", `${W}{30,100}`),
  // Code
  format("github-token", "a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", `${A}{30,255}`),
  format("github-token", "a GitHub token", "github_pat_", `[A-Za-z0-9_]{22,255}`),
  format(
    "gitlab-token",
    "a GitLab token",
    "glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glimt- glagent- gloas-",
    `${W}{18,120}`,
  ),
  format("bitbucket-token", "a Bitbucket password", "ATBB", `${A}{24,60}`),
  format("atlassian-token", "an Atlassian token", "ATATT3x ATCTT3x", `[A-Za-z0-9_=-]{40,250}`),
  format("npm-token", "an npm token", "npm_", `${A}{36,60}`),
  format("pypi-token", "a PyPI token", "pypi-", `AgE${W}{50,300}`),
  format("rubygems-key", "a RubyGems key", "rubygems_", `[a-f0-9]{40,60}`),
  format("crates-token", "a crates.io token", "cio", `${A}{32}`),
  format("docker-token", "a Docker Hub token", "dckr_pat_ dckr_oat_", `${W}{24,80}`),
  format("nuget-key", "a NuGet key", "oy2", `[a-z0-9]{43}`),
  format("jfrog-key", "an Artifactory key", "AKCp", `${A}{60,80}`),
  // Clouds
  format("aws-access-key", "an AWS access key", "AKIA ASIA ABIA ACCA", `[A-Z0-9]{16}`),
  format("alibaba-key", "an Alibaba Cloud key", "LTAI", `${A}{17,24}`),
  format("digitalocean-token", "a DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", `[a-f0-9]{60,70}`),
  format("heroku-key", "a Heroku key", "HRKU-", `${W}{30,80}`),
  format("fly-token", "a Fly.io token", "fm1_ fm2_ fm1r_ fm1a_ fo1_", `[A-Za-z0-9+/=_-]{30,600}`),
  format("netlify-token", "a Netlify token", "nfp_", `${A}{36,60}`),
  format("supabase-key", "a Supabase key", "sbp_ sb_secret_", `${W}{20,80}`),
  format("planetscale-token", "a PlanetScale credential", "pscale_", `(?:tkn|pw|oauth)_${W}{30,80}`),
  format("databricks-token", "a Databricks token", "dapi", `[a-f0-9]{32}(?:-\\d)?`),
  format("vault-token", "a Vault token", "hvs. hvb. hvr.", `${W}{20,300}`),
  format("pulumi-token", "a Pulumi token", "pul-", `[a-f0-9]{40}`),
  format("doppler-token", "a Doppler token", "dp.pt. dp.st. dp.ct. dp.sa.", `[A-Za-z0-9._-]{30,80}`),
  format("tailscale-key", "a Tailscale key", "tskey-", `(?:auth|api|client|scim|webhook)-${W}{10,80}`),
  format("age-key", "an age secret key", "AGE-SECRET-KEY-1", `[0-9A-Z]{50,64}`),
  format("onepassword-token", "a 1Password token", "ops_eyJ", `[A-Za-z0-9+/=_-]{100,1500}`),
  // Messaging and payment
  format(
    "slack-token",
    "a Slack token",
    "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxo- xoxc- xoxd- xapp-",
    `[A-Za-z0-9%.-]{10,250}`,
  ),
  format(
    "slack-webhook",
    "a Slack webhook",
    "hooks.slack.com/",
    `(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,120}`,
  ),
  format(
    "discord-webhook",
    "a Discord webhook",
    "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
    `\\d{15,22}/${W}{40,90}`,
  ),
  format("stripe-key", "a Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_", `${A}{16,250}`),
  format("webhook-secret", "a webhook signing secret", "whsec_", `[A-Za-z0-9+/=]{24,100}`),
  format("shopify-token", "a Shopify token", "shpat_ shpss_ shpca_ shppa_", `[a-fA-F0-9]{32}`),
  format("square-token", "a Square token", "sq0atp- sq0csp- EAAAl EAAAE", `${W}{20,80}`),
  format("sendgrid-key", "a SendGrid key", "SG.", `${W}{16,32}\\.${W}{30,60}`),
  format("resend-key", "a Resend key", "re_", `${A}{7,10}_${A}{20,40}`),
  format("mailgun-key", "a Mailgun key", "key-", `[a-f0-9]{32}`),
  format("twilio-key", "a Twilio key", "SK", `[a-f0-9]{32}`),
  // Work tools
  format("notion-token", "a Notion token", "ntn_ secret_", `${A}{40,60}`),
  format("linear-key", "a Linear key", "lin_api_ lin_oauth_", `${A}{32,70}`),
  format("figma-token", "a Figma token", "figd_ figoh_", `${W}{30,60}`),
  format("airtable-token", "an Airtable token", "pat", `${A}{14}\\.[a-f0-9]{64}`),
  format("postman-key", "a Postman key", "PMAK-", `[a-f0-9]{24}-[a-f0-9]{34}`),
  format("contentful-token", "a Contentful token", "CFPAT-", `${W}{40,50}`),
  format("dropbox-token", "a Dropbox token", "sl.", `(?:u\\.)?${W}{100,1500}`),
  format("grafana-token", "a Grafana token", "glsa_ glc_", `[A-Za-z0-9_=+/]{32,200}`),
  format("newrelic-key", "a New Relic key", "NRAK- NRJS- NRII-", `${W}{19,50}`),
  format("sentry-token", "a Sentry token", "sntrys_ sntryu_", `[A-Za-z0-9+/=_-]{40,300}`),
  format("sonar-token", "a SonarQube token", "squ_ sqp_ sqa_", `[a-f0-9]{40}`),
  format("buildkite-token", "a Buildkite token", "bkua_", `[a-f0-9]{40}`),
  format("circleci-token", "a CircleCI token", "CCIPAT_ CCIPRJ_", `${A}{20,30}_[a-f0-9]{40}`),
  format("flutterwave-key", "a Flutterwave key", "FLWSECK", `(?:_TEST|_LIVE)?-${A}{12,60}-X`),
  // General
  format("jwt", "a JSON Web Token", "eyJ", `${W}{10,2000}\\.eyJ${W}{8,4000}\\.${W}{16,1500}`),
];
