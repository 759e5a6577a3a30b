/** Caches a pure function; clears the cache after `keep` values, so that outside input cannot make it grow. */
export function memoized<Key, Answer>(keep: number, compute: (key: Key) => Answer): (key: Key) => Answer {
  const answers = new Map<Key, Answer>();
  return (key) => {
    const known = answers.get(key);
    if (known !== undefined) return known;
    const answer = compute(key);
    if (answers.size >= keep) answers.clear();
    answers.set(key, answer);
    return answer;
  };
}
