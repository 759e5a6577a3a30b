/** Returns a part of a URL without its %XX; as it is where a % stands for itself. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
