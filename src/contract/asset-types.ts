/** The types that the watchlist can check again; WATCHLIST of any other is refused (CONTRACT 9). */
export const recheckableAssetTypes = [
  "URL",
  "PAGE",
  "EMAIL",
  "DISCORD",
  "LINKEDIN",
  "TWITTER",
  "FACEBOOK",
  "YOUTUBE",
  "REDDIT",
  "TELEGRAM",
  "TIKTOK",
  "INSTAGRAM",
  "THREADS",
  "MEDIUM",
  "FARCASTER",
  "WHATSAPP",
  "DISCORD_USER",
  "QUORA",
  "BLUESKY",
  "SNAPCHAT",
  "PINTEREST",
  "TWITCH",
  "PRIMAL",
  "DESO",
  "VIMEO",
  "DAILYMOTION",
  "BILIBILI_TV",
  "REDNOTE",
  "FLICKR",
  "BEHANCE",
  "DEVIANTART",
  "SOUNDCLOUD",
  "SIGNAL",
] as const;

/** Further types that the platform's pages name (chainpatrol/docs, glossary/asset-types, August 2026): never re-checked. */
export const otherAssetTypes = [
  "ADDRESS",
  "AMAZON_APP_STORE",
  "APPLE_APP_STORE",
  "ARCHIVE_ORG",
  "CHROME_WEB_STORE",
  "DEBANK",
  "GITHUB",
  "GOOGLE_APP_STORE",
  "GOOGLE_FORM",
  "IPFS",
  "JOTFORM",
  "MICROSOFT_APP_STORE",
  "MOZILLA_ADDONS",
  "OPENSEA",
  "OPERA_ADDONS",
  "PATREON",
  "SUBSTACK",
  "TAWK_TO",
  "TEACHABLE",
] as const;

/** The known types, for help texts and examples. Input may name others: a new type of the platform is never refused. */
export const assetTypes = [...recheckableAssetTypes, ...otherAssetTypes] as const;

/** What the name of an asset type looks like, known or not (CONTRACT 10). */
export const assetTypePattern = /^[A-Z0-9_]{1,64}$/;

const recheckable: ReadonlySet<string> = new Set(recheckableAssetTypes);

/** Whether WATCHLIST is possible for an asset of this type. */
export function isRecheckable(assetType: string): boolean {
  return recheckable.has(assetType);
}
