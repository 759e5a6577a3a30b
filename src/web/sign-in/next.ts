// Longer ones are of no page.
const longestNext = 2_048;
// Any name will do: what leaves it is not an address here.
const here = "http://flatline.invalid";

/** Returns where to go on to after a sign-in: a path of this server, whatever `next` says; `/` for all that is none. */
export function localPath(next: string | null | undefined): string {
  if (next === null || next === undefined || !next.startsWith("/") || next.length > longestNext) return "/";
  const url = URL.parse(next, here);
  if (url === null || url.origin !== here) return "/";
  const path = `${url.pathname}${url.search}${url.hash}`;
  // What a browser reads as another host (`/.//host` becomes that, too), and what would lead back here.
  return path.startsWith("//") || /^\/sign-(?:in|out)(?:[/?#]|$)/.test(path) ? "/" : path;
}

/** Returns the address of the form, which leads on to `path`. */
export function signInPath(path: string): string {
  const next = localPath(path);
  return next === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(next)}`;
}
