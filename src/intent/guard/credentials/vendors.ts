/** Services whose keys are secrets: `<vendor>_key: …`. Words with another meaning are left out. */
const VENDORS =
  `abuseipdb adafruit adobe airbrake airtable airtel algolia alibaba alpaca amplitude anthropic anyscale apollo appcenter
  artifactory asana assemblyai atlassian auth0 aweber azure baidu basecamp bedrock beamer bigcommerce binance bitbucket bitfinex bitly bitrise
  bittrex bitwarden braintree brevo browserstack bugsnag buildkite bybit calendly cerebras chargebee circleci clearbit clerk clickhouse clickup
  cloudflare cloudinary codacy codecov cohere coinbase coinmarketcap confluence confluent contentful coveralls crowdin dashscope datadog
  databricks deepgram deepl deepseek defined discord discourse docusign doppler dropbox dynatrace easypost elevenlabs elasticsearch etherscan
  etsy eventbrite facebook fastly fauna figma finicity finnhub firebase firecrawl fireworksai flickr flutterwave foursquare frameio freshbooks
  freshdesk freshworks gemini giphy github gitlab gitter gocardless godaddy google grafana groq hasura heroku honeybadger honeycomb
  hubspot huggingface infura instagram intercom intra42 ipinfo ipstack jenkins jfrog jira jotform klaviyo kraken kucoin
  langchain langfuse langsmith launchdarkly linear linkedin linode lob locationiq lokalise looker loggly logzio mailchimp mailerlite
  mailgun mailjet mandrill mapbox maptiler mattermost maxmind messagebird mistral mixpanel moonshot mongodb moralis netlify newrelic newsapi
  ngrok notion novita npm nvidia nytimes okta onesignal openai opencage openrouter openweather openweathermap opsgenie optimizely pagerduty
  paystack perplexity pexels pinecone pingdom pinterest pipedrive planetscale plaid posthog postman postmark prefect pubnub pulumi pusher pypi
  qdrant qiniu rapidapi razorpay readme recaptcha reddit replicate resend rollbar rubygems runpod salesforce sambanova scaleway scrapingbee sendbird
  sendgrid sendinblue sentry segment serpapi serper shippo shodan shopify sidekiq siliconflow slack smartsheet smtp2go snowflake snyk
  sonarqube sonarcloud sparkpost splunk spotify square squarespace stability statuspage strava stripe sumologic supabase surveymonkey sendcloud
  tailscale tavily telegram telnyx tencent terraform togetherai tomtom travis trello twilio twitch twitter typeform
  unsplash upstash urlscan vercel virustotal voyage voyageai vonage vultr wakatime weatherapi weatherbit weaviate webflow whatsapp woocommerce xai yahoo
  yandex yelp youtube zapier zendesk zenrows zhipu zoho zoom`.split(/\s+/);

const NAMES = new RegExp(`(?:^|[^a-z])(?:${VENDORS.join("|")})(?![a-z]{3})`, "i");

/** Whether a name, or the words before a value, mention such a service. */
export function namesVendor(text: string): boolean {
  return NAMES.test(text);
}
