import { expect, it } from "vitest";

import { assetTypes, isRecheckable } from "./asset-types.ts";

it("sites, mail addresses and the social platforms can be checked again, and nothing else", () => {
  const platforms =
    "DISCORD LINKEDIN TWITTER FACEBOOK YOUTUBE REDDIT TELEGRAM TIKTOK INSTAGRAM THREADS MEDIUM FARCASTER WHATSAPP DISCORD_USER QUORA BLUESKY SNAPCHAT PINTEREST TWITCH PRIMAL DESO VIMEO DAILYMOTION BILIBILI_TV REDNOTE FLICKR BEHANCE DEVIANTART SOUNDCLOUD SIGNAL";

  expect(assetTypes.filter(isRecheckable).toSorted()).toEqual(
    ["URL", "PAGE", "EMAIL", ...platforms.split(" ")].toSorted(),
  );
});
