/** Names that people trust with their passwords, and the domains that really belong to them. */
export interface Brand {
  readonly name: string;
  readonly domains: readonly string[];
  /** Names that only mean this brand: their mere presence in a foreign host is telling. */
  readonly distinct?: true;
}

const brand = (name: string, domains: string, distinct?: true): Brand => ({
  name,
  domains: domains.split(" "),
  ...(distinct && { distinct }),
});

export const BRANDS: readonly Brand[] = [
  brand("paypal", "paypal.com paypal.me paypalobjects.com paypal-community.com paypal-engineering.com", true),
  brand(
    "google",
    "google.com googleapis.com googleusercontent.com googleblog.com googlesource.com googletagmanager.com google-analytics.com googleadservices.com googlevideo.com withgoogle.com google.dev",
    true,
  ),
  brand("gmail", "gmail.com", true),
  brand("youtube", "youtube.com youtube-nocookie.com", true),
  brand(
    "microsoft",
    "microsoft.com microsoftonline.com microsoft365.com microsoftstream.com microsoftedge.com microsoft.net",
    true,
  ),
  brand("office365", "office365.com office.com", true),
  brand("outlook", "outlook.com outlook.office.com"),
  brand("onedrive", "onedrive.com onedrive.live.com", true),
  brand("sharepoint", "sharepoint.com", true),
  brand("windows", "windows.com windows.net windowsupdate.com"),
  brand("azure", "azure.com azure.net azurewebsites.net azureedge.net"),
  brand("apple", "apple.com apple.news apple-cloudkit.com"),
  brand("appleid", "appleid.apple.com", true),
  brand("icloud", "icloud.com icloud-content.com", true),
  brand("amazon", "amazon.com amazonaws.com amazon.dev amazon.jobs amazonpay.com"),
  brand(
    "github",
    "github.com github.io githubusercontent.com githubassets.com github.dev githubstatus.com github.blog githubcopilot.com",
    true,
  ),
  brand("gitlab", "gitlab.com gitlab.io gitlab.net", true),
  brand("bitbucket", "bitbucket.org bitbucket.io", true),
  brand("npmjs", "npmjs.com npmjs.org", true),
  brand("pypi", "pypi.org", true),
  brand("docker", "docker.com docker.io"),
  brand("dropbox", "dropbox.com dropboxusercontent.com dropboxapi.com dropbox.tech", true),
  brand("facebook", "facebook.com facebook.net", true),
  brand("instagram", "instagram.com", true),
  brand("whatsapp", "whatsapp.com whatsapp.net", true),
  brand("twitter", "twitter.com", true),
  brand("linkedin", "linkedin.com", true),
  brand("netflix", "netflix.com netflix.net netflixtechblog.com", true),
  brand("spotify", "spotify.com spotifycdn.com", true),
  brand("slack", "slack.com slack-edge.com slackhq.com"),
  brand("discord", "discord.com discord.gg discordapp.com discordapp.net"),
  brand("telegram", "telegram.org telegram.me"),
  brand("coinbase", "coinbase.com", true),
  brand("binance", "binance.com binance.us binance.org", true),
  brand("metamask", "metamask.io", true),
  brand("kraken", "kraken.com"),
  brand("ledger", "ledger.com ledgerwallet.com"),
  brand("trezor", "trezor.io", true),
  brand("stripe", "stripe.com stripe.network"),
  brand("wellsfargo", "wellsfargo.com", true),
  brand("bankofamerica", "bankofamerica.com", true),
  brand("citibank", "citibank.com", true),
  brand("hsbc", "hsbc.com hsbc.co.uk", true),
  brand("americanexpress", "americanexpress.com", true),
  brand("mastercard", "mastercard.com", true),
  brand("santander", "santander.com santander.co.uk", true),
  brand("barclays", "barclays.com barclays.co.uk", true),
  brand("steamcommunity", "steamcommunity.com", true),
  brand("steampowered", "steampowered.com", true),
  brand("adobe", "adobe.com adobe.io"),
  brand("docusign", "docusign.com docusign.net", true),
  brand("okta", "okta.com oktapreview.com"),
  brand("cloudflare", "cloudflare.com cloudflare.net cloudflareinsights.com cloudflarestatus.com", true),
  brand("openai", "openai.com openai.org", true),
  brand("chatgpt", "chatgpt.com", true),
  brand("anthropic", "anthropic.com", true),
  brand("huggingface", "huggingface.co huggingface.tech", true),
  brand("atlassian", "atlassian.com atlassian.net", true),
  brand("salesforce", "salesforce.com salesforce.org salesforce-sites.com", true),
  brand("dhl", "dhl.com dhl.de"),
  brand("fedex", "fedex.com", true),
  brand("usps", "usps.com", true),
  brand("ebay", "ebay.com"),
  brand("walmart", "walmart.com", true),
  brand("wikipedia", "wikipedia.org", true),
  brand("digitalocean", "digitalocean.com digitaloceanspaces.com", true),
  brand("godaddy", "godaddy.com", true),
  brand("yahoo", "yahoo.com"),
  brand("protonmail", "protonmail.com proton.me", true),
  brand("1password", "1password.com", true),
  brand("lastpass", "lastpass.com", true),
  brand("bitwarden", "bitwarden.com bitwarden.net", true),
];

/** Words by which a page that wants a password calls itself. */
export const LURES =
  /(?:^|[-.])(?:log-?in|sign-?in|signon|verify|verification|secure|security|account|accounts|update|billing|wallet|auth|confirm|confirmation|unlock|recover|recovery|password|support|helpdesk|service|payment|invoice|alert|suspended|limited|restore|validate|webscr|customer|id|sso|2fa|mfa|portal|refund|claim|airdrop|gift|bonus|reward|token|oauth|session|access)\d{0,3}(?=$|[-.])/;
